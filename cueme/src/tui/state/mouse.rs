//! Mouse events: the wheel scrolls, a click selects. Neither sends anything.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::layout::Layout;
use super::model::{Command, Mode, State};

/// The number of lines that one step of the wheel scrolls.
const WHEEL_LINES: usize = 3;

impl State {
    pub(super) fn toggle_mouse(&mut self, commands: &mut Vec<Command>) {
        self.has_mouse = !self.has_mouse;
        commands.push(Command::Mouse(self.has_mouse));
        self.say(if self.has_mouse {
            "the mouse selects and scrolls; m gives it back to the terminal"
        } else {
            "the terminal selects text with the mouse; m takes it over"
        });
    }

    pub(super) fn handle_mouse(&mut self, mouse: MouseEvent, commands: &mut Vec<Command>) {
        let layout = Layout::of(self);
        let is_in_list = layout.list.contains(Position::new(mouse.column, mouse.row));
        let is_choosing = matches!(self.mode, Mode::List | Mode::Search);
        match mouse.kind {
            MouseEventKind::ScrollUp if is_in_list && is_choosing => self.select_by(-1),
            MouseEventKind::ScrollDown if is_in_list && is_choosing => self.select_by(1),
            MouseEventKind::ScrollUp => self.scroll = self.scroll.saturating_sub(WHEEL_LINES),
            MouseEventKind::ScrollDown => self.scroll = self.scroll.saturating_add(WHEEL_LINES),
            MouseEventKind::Down(MouseButton::Left) if is_in_list && is_choosing => {
                self.click(&layout, mouse.row, commands);
            }
            _ => {}
        }
    }

    /// Selects the entry in a row; one that is selected already is opened.
    fn click(&mut self, layout: &Layout, row: u16, commands: &mut Vec<Command>) {
        let entries = self.entries();
        let (first, fitting) = self.window(layout, &entries);
        let place = usize::from((row - layout.list.y) / layout.entry_rows.max(1));
        let clicked = entries.into_iter().skip(first).take(fitting).nth(place);
        let Some(clicked) = clicked else { return };
        if self.selected() == Some(&clicked) {
            self.open(commands);
        } else {
            self.select(Some(clicked));
        }
    }
}
