//! The lines of the selected entry: the conversation before it, and the question.

use protocol_spec::message::{CueView, History, Request};

use super::entry::Entry;
use super::fold::shown;
use super::layout::Layout;
use super::model::{Body, CallPurpose, Command, State};
use crate::display::{
    StyledLine, Tone, TonedText, decision_lines, full_head, payload_lines, piece, question_lines,
};

/// The most earlier questions of an agent above the selected one.
const CONVERSATION_MAX: u32 = 20;

impl State {
    /// Puts everything in order after an event: the selection exists, its lines are made, and the scroll is inside.
    pub(super) fn settle(&mut self, commands: &mut Vec<Command>) {
        let entries = self.entries();
        if self.position(&entries).is_none() {
            self.select(entries.into_iter().next());
        }
        self.fetch_conversation(commands);
        // The width must be known before the lines are wrapped; the height depends on them.
        self.make_body(Layout::of(self).body.width.into());
        let height = usize::from(Layout::of(self).body.height);
        let last = self.body.lines.len().saturating_sub(height.max(1));
        self.scroll = self.scroll.min(last);
        let lines = shown(self.body.lines.len(), self.scroll, height);
        if lines.start <= self.read_to {
            self.read_to = self.read_to.max(lines.end);
        }
    }

    /// Returns how many lines of the selected question were never on the screen.
    pub(in crate::tui) fn unread(&self) -> usize {
        self.body.lines.len().saturating_sub(self.read_to)
    }

    fn fetch_conversation(&mut self, commands: &mut Vec<Command>) {
        let Some(agent) = self.selected_agent() else {
            return;
        };
        let wanted = Some((agent.clone(), self.version));
        if self.asked_for == wanted {
            return;
        }
        self.asked_for = wanted;
        let history = History {
            agent: Some(agent.to_string()),
            search: None,
            limit: Some(CONVERSATION_MAX),
            before: None,
        };
        commands.push(Command::Call(
            CallPurpose::Conversation(agent),
            Request::History(history),
        ));
    }

    fn make_body(&mut self, columns: usize) {
        let Some(entry) = self.selected.clone() else {
            self.body = Body::default();
            self.scroll = 0;
            return;
        };
        let key = Some((entry.clone(), columns, self.version));
        if self.body.key == key {
            return;
        }
        let mut lines = self.conversation_lines(&entry, columns);
        let question_at = lines.len();
        if let Some(cue) = self.cue_of(&entry) {
            lines.extend(question_lines(cue, columns));
            if !cue.is_answerable() || !matches!(entry, Entry::Open(_)) {
                lines.extend(past_lines(cue, columns));
            }
        }
        let lines: Vec<StyledLine> = lines.iter().flat_map(|line| wrapped(line, columns)).collect();
        let is_new = self
            .body
            .key
            .as_ref()
            .is_none_or(|(before, _, _)| *before != entry);
        let is_same_width = self
            .body
            .key
            .as_ref()
            .is_some_and(|(_, before, _)| *before == columns);
        if is_new || !is_same_width {
            // The newest question is what a person came for; what was before it is above.
            let at = match entry {
                Entry::Agent(_) => lines.len(),
                _ => question_at,
            };
            // The first row may say how much is above it.
            (self.scroll, self.read_to) = (at.saturating_sub(1), at);
        } else {
            let moved = |at: usize, before: usize| (at + question_at).saturating_sub(before);
            self.scroll = moved(self.scroll, self.body.question_at);
            self.read_to = moved(self.read_to, self.body.question_at);
        }
        self.body = Body {
            key,
            lines,
            question_at,
        };
    }

    /// Returns what the agent asked before, oldest first, each with its answer.
    fn conversation_lines(&self, entry: &Entry, columns: usize) -> Vec<StyledLine> {
        let shown = self.cue_of(entry);
        let agent = self.selected_agent();
        let past = agent.and_then(|agent| self.conversations.get(&agent));
        let mut lines = Vec::new();
        let past = past.into_iter().flatten().rev();
        for cue in past.filter(|cue| !cue.is_answerable() && shown.is_none_or(|shown| cue.seq < shown.seq)) {
            lines.extend(full_head(cue, self.now));
            lines.extend(question_lines(cue, columns));
            lines.extend(past_lines(cue, columns));
            lines.push(vec![piece(Tone::Quiet, "─".repeat(columns))]);
        }
        let lines: Vec<StyledLine> = lines.iter().flat_map(|line| wrapped(line, columns)).collect();
        lines
    }
}

/// Breaks a line that is too long for the screen.
pub(in crate::tui) fn wrapped(line: &StyledLine, columns: usize) -> Vec<StyledLine> {
    TonedText::of_line(line).lines(columns)
}

/// Returns what was offered and what was decided.
fn past_lines(cue: &CueView, columns: usize) -> Vec<StyledLine> {
    let offered = payload_lines(cue, columns);
    let offered = offered.into_iter().map(|line| vec![piece(Tone::Quiet, line)]);
    offered.chain(decision_lines(cue, columns)).collect()
}
