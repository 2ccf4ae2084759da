//! The lower part of the screen: what a question offers and what is being written, as lines.

use protocol_spec::message::Purpose;

use super::body::wrapped;
use super::entry::Entry;
use super::model::{Mode, PromptPurpose, State};
use crate::display::{StyledLine, Tone, piece, plain_lines, visible_line};
use crate::tui::draft::{Draft, Group, Row};
use crate::tui::text_box::TextBox;

/// Lines, and where the cursor is among them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::tui) struct Panel {
    pub(in crate::tui) lines: Vec<StyledLine>,
    /// The line that has to be on the screen.
    pub(in crate::tui) focus: usize,
    /// The row and column of the terminal's cursor.
    pub(in crate::tui) cursor: Option<(usize, usize)>,
}

impl Panel {
    pub(in crate::tui) fn of(state: &State, columns: usize) -> Self {
        let mut panel = Self::default();
        match state.mode() {
            Mode::Review { cue, text, remark } => {
                let agent = state.selected_agent();
                let agent = agent.as_ref().map_or("the agent", |agent| agent.as_str());
                panel.push(
                    Tone::Strong,
                    &format!("{agent} will read, as the answer to {cue}:"),
                    columns,
                );
                panel.lines.extend(plain_lines(text, columns, Tone::Plain));
                if let Some(remark) = remark {
                    panel.push(Tone::Attention, remark, columns);
                }
            }
            Mode::Prompt(asked, text) => {
                panel.push(Tone::Strong, &asked_words(asked), columns);
                panel.push_text(text, "", columns, true);
            }
            Mode::List | Mode::Search | Mode::Answer | Mode::Help => panel.push_answer(state, columns),
        }
        panel
    }

    fn push_answer(&mut self, state: &State, columns: usize) {
        if let Some(cue) = state.open_cue() {
            if state.sending.contains_key(&cue.cue_id) {
                return self.push(Tone::Quiet, "sending your answer …", columns);
            }
            let new;
            let draft = match state.drafts.get(&cue.cue_id) {
                Some(draft) => draft,
                None => {
                    new = Draft::new(cue);
                    &new
                }
            };
            return self.push_draft(draft, columns, *state.mode() == Mode::Answer);
        }
        match state.selected() {
            Some(Entry::Gone(cue)) => {
                let draft = state.drafts.get(cue).filter(|draft| draft.is_touched());
                if let Some(draft) = draft {
                    self.push(Tone::Attention, "your draft, which was not sent:", columns);
                    self.push_draft(draft, columns, false);
                }
            }
            Some(Entry::Agent(_)) => {
                self.push(Tone::Quiet, "asks nothing right now; n leaves a note", columns)
            }
            _ => {}
        }
    }

    fn push_draft(&mut self, draft: &Draft, columns: usize, is_active: bool) {
        for (number, group) in draft.groups.iter().enumerate() {
            if let Some(label) = &group.label {
                for line in plain_lines(label, columns, Tone::Strong) {
                    self.lines.push(line);
                }
            }
            for option in 0..group.options.len() {
                let row = Row::Option {
                    group: number,
                    option,
                };
                self.push_option(group, option, columns, is_active && draft.row() == row);
            }
            if let Some(text) = &group.text {
                let is_here = is_active && draft.row() == Row::Text { group: number };
                self.push_text(text, &group.text_label, columns, is_here);
            }
        }
        if let Some(complaint) = &draft.complaint {
            let start = self.lines.len();
            self.push(Tone::Bad, &visible_line(complaint), columns);
            self.focus = self.focus.max(start.saturating_sub(1));
        }
    }

    fn push_option(&mut self, group: &Group, option: usize, columns: usize, is_here: bool) {
        let is_picked = group.picked.contains(&option);
        let mark = match (group.allow_multiple, is_picked) {
            (true, true) => "[x]",
            (true, false) => "[ ]",
            (false, true) => "(x)",
            (false, false) => "( )",
        };
        let pointer = if is_here { '>' } else { ' ' };
        let tone = if is_here { Tone::Strong } else { Tone::Plain };
        let label = visible_line(group.options.get(option).map_or("", String::as_str));
        if is_here {
            self.focus = self.lines.len();
        }
        let lead = format!("{pointer} {}. {mark} ", option + 1);
        let indent = unicode_width::UnicodeWidthStr::width(lead.as_str());
        if indent * 2 > columns {
            return self.push(tone, &format!("{lead}{label}"), columns);
        }
        for (row, line) in wrapped(&vec![piece(tone, label)], columns - indent)
            .into_iter()
            .enumerate()
        {
            let lead = if row == 0 {
                lead.clone()
            } else {
                " ".repeat(indent)
            };
            self.lines.push([vec![piece(tone, lead)], line].concat());
        }
    }

    fn push_text(&mut self, text: &TextBox, label: &str, columns: usize, is_here: bool) {
        let pointer = if is_here { '>' } else { ' ' };
        let label = visible_line(label);
        let prefix = if label.is_empty() {
            format!("{pointer} ")
        } else {
            format!("{pointer} {label}: ")
        };
        let prefix_columns = unicode_width::UnicodeWidthStr::width(prefix.as_str());
        // A long label gets a line of its own.
        let indent = if prefix_columns * 2 > columns {
            self.push(Tone::Quiet, &prefix, columns);
            2
        } else {
            prefix_columns
        };
        let drawn = text.draw(columns.saturating_sub(indent));
        let first = self.lines.len();
        for (row, words) in drawn.rows.into_iter().enumerate() {
            let lead = if row == 0 && indent == prefix_columns {
                piece(if is_here { Tone::Strong } else { Tone::Quiet }, prefix.clone())
            } else {
                piece(Tone::Quiet, " ".repeat(indent))
            };
            self.lines.push(vec![lead, piece(Tone::Plain, words)]);
        }
        if is_here {
            let (row, column) = drawn.cursor;
            self.cursor = Some((first + row, indent + column));
            self.focus = first + row;
        }
    }

    fn push(&mut self, tone: Tone, words: &str, columns: usize) {
        self.lines.extend(wrapped(&vec![piece(tone, words)], columns));
    }
}

fn asked_words(asked: &PromptPurpose) -> String {
    match asked {
        PromptPurpose::Decline(cue) => format!("Decline {cue}. Why? (empty is fine)"),
        PromptPurpose::Cancel(cue) => format!("Close {cue} without an answer. Why? (empty is fine)"),
        PromptPurpose::Say(agent, Purpose::Note) => {
            format!("Note for {agent}: goes above your next answer (Tab: answer its next question instead)")
        }
        PromptPurpose::Say(agent, Purpose::QueuedAnswer) => format!(
            "Queued answer for {agent}: answers its next plain question before you see it (Tab: a note instead)"
        ),
    }
}
