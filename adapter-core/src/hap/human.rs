//! The human, as the adapter sees them.

use std::future::Future;

use thiserror::Error;

/// A question the adapter asks in the agent's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanQuestion {
    /// What the human reads.
    pub prompt: String,
    /// A payload as JSON text, for a question with options.
    pub payload: Option<String>,
    /// The turn this belongs to.
    pub nonce: String,
}

/// What the human said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Words for the agent.
    Text(String),
    /// They declined; the conversation is over.
    Declined(String),
    /// The question was closed without an answer.
    Cancelled,
}

/// The broker's record of one cue or pause of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The turn in whose environment the call ran.
    pub nonce: String,
    /// What became of it.
    pub outcome: ReceiptOutcome,
    /// Whether the caller acknowledged that it printed the outcome.
    pub acknowledged: bool,
}

/// What became of a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// Still open: the caller left with exit 75.
    Open,
    /// The human answered.
    Answered,
    /// The human declined.
    Declined,
    /// It was closed without an answer.
    Cancelled,
}

/// Why the human could not be reached.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct HumanError {
    /// What happened.
    pub reason: String,
    /// The command that asks the same by hand.
    pub command: String,
}

/// Reaches the human through the broker.
pub trait Human: Send {
    /// Asks and waits as long as it takes.
    fn ask(&mut self, question: HumanQuestion) -> impl Future<Output = Result<Answer, HumanError>> + Send;

    /// Returns the broker's records of calls made in this turn.
    fn receipts(&mut self, nonce: &str) -> impl Future<Output = Result<Vec<Receipt>, HumanError>> + Send;
}

/// Reports whether an answer asks for nothing but an end.
pub fn ends_conversation(text: &str) -> bool {
    let word = text
        .trim()
        .trim_end_matches(['.', '!', '。', '！'])
        .to_lowercase();
    [
        "stop", "end", "quit", "exit", "done", "finish", "结束", "停止", "完成",
    ]
    .contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lone_word_ends_a_conversation() {
        assert!(ends_conversation(" Stop. ") && ends_conversation("结束"));
        assert!(!ends_conversation("stop the server and continue") && !ends_conversation(""));
    }
}
