//! The whole screen.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style as Painted};
use ratatui::widgets::{Clear, Widget};

use super::parts::{put_words, row_of, window};
use super::style::Style;
use super::{help, list};
use crate::display::{Tone, visible_line};
use crate::tui::state::{Connection, Layout, Mode, Panel, State};

/// Draws the state.
pub(in crate::tui) fn draw(frame: &mut Frame<'_>, state: &State, style: Style) {
    let layout = Layout::of(state);
    draw_title(frame, state, layout.title, style);
    if layout.list.height > 0 {
        list::draw(frame, state, &layout, style);
        draw_rule(frame, &layout, style);
    }
    let head = state.head_lines(layout.head.width.into());
    for (row, line) in head.iter().enumerate() {
        row_of(frame, layout.head, row, line, style);
    }
    let (lines, first) = state.body();
    window(frame, layout.body, lines, first, style);
    draw_panel(frame, state, layout.panel, style);
    draw_notice(frame, state, layout.notice, style);
    let keys = style.of(Tone::Quiet);
    let words = help::keys(state, layout.help.width.into());
    put_words(frame, layout.help, 0, &words, keys);
    if *state.mode() == Mode::Help {
        draw_help(frame, style);
    }
}

fn draw_title(frame: &mut Frame<'_>, state: &State, area: Rect, style: Style) {
    let inbox = state.inbox();
    let open = inbox.cues.iter().filter(|cue| cue.is_answerable()).count();
    let agents = match inbox.agents.len() {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    };
    let connection = match state.connection() {
        Connection::Reading => "  reading …".to_owned(),
        Connection::Up => String::new(),
        Connection::Lost(why) => format!("  reconnecting: {}", visible_line(why)),
    };
    let painted = match state.connection() {
        Connection::Lost(_) => style.of(Tone::Attention).add_modifier(Modifier::REVERSED),
        _ => Painted::new().add_modifier(Modifier::REVERSED),
    };
    let words = format!(" cueme  {open} open, {agents}{connection}");
    let words = crate::display::pad(&words, area.width.into());
    put_words(frame, area, 0, &words, painted);
}

/// Draws the line between the list and the rest.
fn draw_rule(frame: &mut Frame<'_>, layout: &Layout, style: Style) {
    let list = layout.list;
    let quiet = style.of(Tone::Quiet);
    if layout.entry_rows > 1 {
        for row in 0..list.height {
            let cell = Rect::new(list.x + list.width, list.y + row, 1, 1);
            put_words(frame, cell, 0, "│", quiet);
        }
    } else if list.y + list.height < layout.notice.y {
        let row = Rect::new(list.x, list.y + list.height, list.width, 1);
        put_words(frame, row, 0, &"─".repeat(list.width.into()), quiet);
    }
}

fn draw_panel(frame: &mut Frame<'_>, state: &State, area: Rect, style: Style) {
    if area.height == 0 {
        return;
    }
    put_words(
        frame,
        area,
        0,
        &"─".repeat(area.width.into()),
        style.of(Tone::Quiet),
    );
    let inner = Rect::new(area.x, area.y + 1, area.width, area.height - 1);
    let panel = Panel::of(state, inner.width.into());
    let height = usize::from(inner.height);
    // The row that says how much is left out must not be the one with the cursor.
    let first = (panel.focus + 2)
        .saturating_sub(height)
        .min(panel.lines.len().saturating_sub(height));
    window(frame, inner, &panel.lines, first, style);
    if let Some((row, column)) = panel.cursor
        && let (Some(row), Ok(column)) = (row.checked_sub(first), u16::try_from(column))
        && let Ok(row) = u16::try_from(row)
        && row < inner.height
    {
        let column = column.min(inner.width.saturating_sub(1));
        frame.set_cursor_position(Position::new(inner.x + column, inner.y + row));
    }
}

fn draw_notice(frame: &mut Frame<'_>, state: &State, area: Rect, style: Style) {
    if *state.mode() == Mode::Search {
        let drawn = state.search().draw(usize::from(area.width.saturating_sub(2)));
        let (row, column) = drawn.cursor;
        let words = format!("/{}", drawn.rows.get(row).map_or("", String::as_str));
        put_words(frame, area, 0, &words, style.of(Tone::Strong));
        if let Ok(column) = u16::try_from(column + 1)
            && area.height > 0
        {
            frame.set_cursor_position(Position::new(
                area.x + column.min(area.width.saturating_sub(1)),
                area.y,
            ));
        }
        return;
    }
    let held = state.held().map(|held| {
        let left = held.until.millis_since(state.now()).div_ceil(1000);
        format!("u takes back {} ({left} s)", held.cue)
    });
    let search = (!state.search().is_blank()).then(|| format!("search: {}", state.search().text()));
    let words = [held, state.notice().map(str::to_owned), search];
    let words: Vec<String> = words.into_iter().flatten().collect();
    put_words(
        frame,
        area,
        0,
        &visible_line(&words.join(" · ")),
        style.of(Tone::Attention),
    );
}

fn draw_help(frame: &mut Frame<'_>, style: Style) {
    let screen = frame.area();
    let rows = u16::try_from(help::HELP.len()).unwrap_or(u16::MAX);
    let area = Rect::new(0, 1, screen.width, rows.min(screen.height.saturating_sub(2)));
    Clear.render(area, frame.buffer_mut());
    for (row, words) in help::HELP.iter().enumerate() {
        let tone = if words.starts_with(' ') {
            Tone::Plain
        } else {
            Tone::Strong
        };
        put_words(frame, area, row, words, style.of(tone));
    }
}
