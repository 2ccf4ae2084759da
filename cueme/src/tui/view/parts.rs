//! Lines in a rectangle: as many as fit, and a word about the others.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::style::Style;
use crate::display::{StyledLine, Tone, piece, shorten};
use crate::tui::state::shown;

/// Draws lines from `first` on. Where some are left out, the first or last row says how many.
pub(super) fn window(frame: &mut Frame<'_>, area: Rect, lines: &[StyledLine], first: usize, style: Style) {
    let height = usize::from(area.height);
    let seen = shown(lines.len(), first, height);
    for (row, line) in lines.iter().skip(first).take(height).enumerate() {
        let at = first + row;
        if at < seen.start {
            row_of(
                frame,
                area,
                row,
                &fold(&format!("▲ {} above · PgUp", counted(seen.start))),
                style,
            );
        } else if at >= seen.end {
            let below = lines.len() - seen.end;
            row_of(
                frame,
                area,
                row,
                &fold(&format!("▼ {} below · PgDn", counted(below))),
                style,
            );
        } else {
            row_of(frame, area, row, line, style);
        }
    }
}

/// Draws one line in a row of a rectangle.
pub(super) fn row_of(frame: &mut Frame<'_>, area: Rect, row: usize, line: &StyledLine, style: Style) {
    put(frame, area, row, &style.line(line));
}

/// Draws a text in a row of a rectangle, shortened to its width.
pub(super) fn put_words(
    frame: &mut Frame<'_>,
    area: Rect,
    row: usize,
    words: &str,
    painted: ratatui::style::Style,
) {
    let words = shorten(words, area.width.into());
    put(frame, area, row, &Line::styled(words, painted));
}

fn put(frame: &mut Frame<'_>, area: Rect, row: usize, line: &Line<'_>) {
    let Ok(row) = u16::try_from(row) else {
        return;
    };
    if row < area.height {
        frame
            .buffer_mut()
            .set_line(area.x, area.y + row, line, area.width);
    }
}

fn fold(words: &str) -> StyledLine {
    vec![piece(Tone::Attention, words)]
}

fn counted(lines: usize) -> String {
    if lines == 1 {
        "1 more line".to_owned()
    } else {
        format!("{lines} more lines")
    }
}
