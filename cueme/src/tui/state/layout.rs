//! The layout of a screen of any size.

use ratatui::layout::Rect;

use super::body::wrapped;
use super::entry::Entry;
use super::model::{Mode, State};
use super::panel::Panel;
use crate::display::{StyledLine, Tone, ago, full_head, piece, visible_line};

/// From how many columns on the list stands beside the question.
const WIDE_COLUMNS: u16 = 100;
/// The most rows of a question's head.
const HEAD_ROWS_MAX: usize = 4;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::tui) struct Layout {
    pub(in crate::tui) title: Rect,
    /// Empty when there is no room for it.
    pub(in crate::tui) list: Rect,
    /// Rows of one entry of the list.
    pub(in crate::tui) entry_rows: u16,
    pub(in crate::tui) head: Rect,
    pub(in crate::tui) body: Rect,
    pub(in crate::tui) panel: Rect,
    pub(in crate::tui) notice: Rect,
    pub(in crate::tui) help: Rect,
}

impl Layout {
    pub(in crate::tui) fn of(state: &State) -> Self {
        let (columns, rows) = state.size;
        let title = Rect::new(0, 0, columns, rows.min(1));
        let help = Rect::new(0, rows.saturating_sub(1), columns, u16::from(rows > 1));
        let notice = Rect::new(0, rows.saturating_sub(2), columns, u16::from(rows > 2));
        let main = Rect::new(0, title.height, columns, rows.saturating_sub(3));
        let is_wide = columns >= WIDE_COLUMNS;
        let (list, rest) = if is_wide {
            beside(main)
        } else if matches!(state.mode, Mode::List | Mode::Search | Mode::Help) {
            above(main, state.entries().len())
        } else {
            (Rect::default(), main)
        };
        let head_rows = state.head_lines(rest.width.into()).len();
        let head_rows = u16::try_from(head_rows).unwrap_or(0).min(rest.height / 3);
        let left = rest.height - head_rows;
        let wanted = Panel::of(state, rest.width.into()).lines.len();
        // One row more, for the rule above it.
        let wanted = u16::try_from(wanted).unwrap_or(u16::MAX).saturating_add(1);
        // At most a half, and what the conversation leaves of the other.
        let spoken = u16::try_from(state.body().0.len()).unwrap_or(u16::MAX);
        let most = (left / 2).max(3).max(left.saturating_sub(spoken));
        let panel_rows = wanted.min(most).min(left);
        let body_rows = left - panel_rows;
        Self {
            title,
            list,
            entry_rows: if is_wide { 2 } else { 1 },
            head: Rect::new(rest.x, rest.y, rest.width, head_rows),
            body: Rect::new(rest.x, rest.y + head_rows, rest.width, body_rows),
            panel: Rect::new(rest.x, rest.y + head_rows + body_rows, rest.width, panel_rows),
            notice,
            help,
        }
    }
}

/// The list on the left, with a column for a rule behind it.
fn beside(main: Rect) -> (Rect, Rect) {
    let width = (main.width / 3).clamp(30, 44);
    let list = Rect { width, ..main };
    let rest = Rect {
        x: main.x + width + 1,
        width: main.width - width - 1,
        ..main
    };
    (list, rest)
}

/// The list on top, with a row for a rule below it.
fn above(main: Rect, entries: usize) -> (Rect, Rect) {
    let wanted = u16::try_from(entries).unwrap_or(u16::MAX).max(1);
    let height = wanted.min((main.height / 3).max(2)).min(main.height);
    let list = Rect { height, ..main };
    let used = (height + 1).min(main.height);
    let rest = Rect {
        y: main.y + used,
        height: main.height - used,
        ..main
    };
    (list, rest)
}

impl State {
    /// Returns the first entry of the list that is shown, and how many fit: those around the selected one.
    pub(in crate::tui) fn window(&self, layout: &Layout, entries: &[Entry]) -> (usize, usize) {
        let fitting = usize::from(layout.list.height / layout.entry_rows.max(1)).max(1);
        let selected = self.selected();
        let at = entries
            .iter()
            .position(|entry| Some(entry) == selected)
            .unwrap_or(0);
        let first = at.saturating_sub(fitting / 2);
        (first.min(entries.len().saturating_sub(fitting)), fitting)
    }

    /// Returns whose question is selected and how it stands.
    pub(in crate::tui) fn head_lines(&self, columns: usize) -> Vec<StyledLine> {
        let lines = match self.selected() {
            Some(Entry::Agent(id)) => match self.agent_of(id) {
                Some(agent) => {
                    let name = agent
                        .name
                        .as_deref()
                        .map_or_else(String::new, |name| format!("  {}", visible_line(name)));
                    let place = format!(
                        "{} in {}, seen {} ago",
                        agent.agent_runtime,
                        visible_line(&agent.project_dir),
                        ago(self.now, agent.seen_at)
                    );
                    vec![
                        vec![piece(Tone::Strong, format!("{id}{name}"))],
                        vec![piece(Tone::Quiet, place)],
                    ]
                }
                None => Vec::new(),
            },
            Some(entry) => self.cue_of(entry).map_or_else(Vec::new, |cue| {
                let mut head = full_head(cue, self.now);
                // The blank line is for texts that scroll.
                head.pop();
                head
            }),
            None => Vec::new(),
        };
        let lines = lines.iter().flat_map(|line| wrapped(line, columns.max(2)));
        lines.take(HEAD_ROWS_MAX).collect()
    }
}
