//! The evidence that a turn gives about itself, for the HAP gate. This module records and decides nothing.

use protocol_spec::truncate::tail;

use super::question::AskQuestion;

/// The most bytes of final text that are kept.
pub const FINAL_TEXT_BYTES_MAX: usize = 64 * 1024;
/// The most AskQuestion calls that are kept.
const ASKED_MAX: usize = 16;

/// The evidence from one turn's stream.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The chat, for resuming it.
    pub session_id: Option<String>,
    /// The model's display name.
    pub model: Option<String>,
    /// The call that ended last.
    pub last_call: Option<CallRecord>,
    /// The number of calls that had started and not ended.
    pub open_calls: usize,
    /// Questions the CLI answered itself, which no human saw.
    pub skipped_questions: Vec<AskQuestion>,
    /// The end of the assistant's text.
    pub final_text: String,
}

/// One ended call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// The CLI's key for the tool.
    pub key: String,
    /// The outcome.
    pub outcome: String,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// Whether it was moved, or asked to run, in the background.
    pub is_background: bool,
    /// The kind of call.
    pub what: CallKind,
}

/// The kind of a call, as far as the gate needs it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CallKind {
    /// A shell command.
    Shell(ShellCommand),
    /// A tool of an MCP server.
    Mcp {
        /// The tool's name on its server.
        tool: String,
        /// The server's name.
        server: String,
    },
    /// Any other tool.
    #[default]
    Other,
}

/// A shell command as the CLI reported it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellCommand {
    /// The line as written.
    pub command: String,
    /// The commands in it, as the CLI parsed them; `None` when it did not.
    pub parsed: Option<Vec<Vec<String>>>,
}

impl Evidence {
    /// Appends to the final text, keeping only its end.
    pub(crate) fn push_text(&mut self, text: &str) {
        self.final_text.push_str(text);
        if self.final_text.len() > 2 * FINAL_TEXT_BYTES_MAX {
            let kept = tail(&self.final_text, FINAL_TEXT_BYTES_MAX).len();
            self.final_text.drain(..self.final_text.len() - kept);
        }
    }

    /// Keeps a question that no human saw; returns whether it is a new one.
    pub(crate) fn skipped(&mut self, ask: AskQuestion) -> bool {
        let known = self.skipped_questions.iter().any(|other| other.is_same(&ask));
        let is_new = !known && self.skipped_questions.len() < ASKED_MAX;
        if is_new {
            self.skipped_questions.push(ask);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_final_text_keeps_its_end_and_no_half_character() {
        let mut evidence = Evidence::default();
        for _ in 0..FINAL_TEXT_BYTES_MAX {
            evidence.push_text("é…");
        }
        evidence.push_text("end");
        assert!(evidence.final_text.len() <= 2 * FINAL_TEXT_BYTES_MAX);
        assert!(evidence.final_text.ends_with("é…end"));
    }
}
