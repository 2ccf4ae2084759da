//! The human, as the adapter sees them.

use std::fmt;
use std::future::Future;

use thiserror::Error;

/// A question the adapter asks in the agent's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanQuestion {
    /// The text for the human.
    pub prompt: String,
    /// A payload as JSON text, for a question with options.
    pub payload: Option<String>,
    /// The turn this belongs to.
    pub nonce: String,
}

/// The human's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Words for the agent, which goes on with them.
    Text(String),
    /// They ended the run, with these last words for the agent.
    Done(Option<String>),
    /// They declined; the conversation is over.
    Declined(String),
    /// The question was closed without an answer.
    Cancelled,
}

/// The human's answer, and the confirmation that it arrived.
#[derive(Debug)]
pub struct Confirmable<T> {
    /// The answer.
    pub word: T,
    /// Given once the recipient has the answer.
    pub confirmation: Confirmation,
}

impl<T> Confirmable<T> {
    /// Returns an answer that needs no confirmation.
    pub fn unconfirmed(word: T) -> Self {
        let confirmation = Confirmation::default();
        Self { word, confirmation }
    }
}

/// Tells the broker that an outcome arrived.
///
/// One that is dropped tells nothing: the outcome stays undelivered and comes with the agent's next question.
#[derive(Default)]
pub struct Confirmation(Vec<Box<dyn FnOnce() + Send>>);

impl Confirmation {
    /// Returns one that is given like this.
    pub fn by(give: impl FnOnce() + Send + 'static) -> Self {
        Self(vec![Box::new(give)])
    }

    /// Adds another, to be given at the same time.
    pub fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Tells the broker; that may take as long as the broker does.
    pub fn give(self) {
        self.0.into_iter().for_each(|give| give());
    }

    /// Gives the confirmation unless it was given already.
    pub(crate) fn give_once(&mut self) {
        std::mem::take(self).give();
    }
}

impl fmt::Debug for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Confirmation").field(&self.0.len()).finish()
    }
}

/// The broker's record of one cue or pause of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The turn in whose environment the call ran.
    pub nonce: String,
    /// The outcome.
    pub outcome: ReceiptOutcome,
    /// Whether the caller acknowledged that it printed the outcome.
    pub acknowledged: bool,
    /// Whether the human ended the run with it.
    pub ends_run: bool,
}

/// The outcome of a cue.
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
    /// The reason.
    pub reason: String,
    /// The command that asks the same by hand.
    pub command: String,
}

/// Reaches the human through the broker.
pub trait Human: Send {
    /// Asks and waits as long as it takes.
    fn ask(
        &mut self,
        question: HumanQuestion,
    ) -> impl Future<Output = Result<Confirmable<Answer>, HumanError>> + Send;

    /// Returns the broker's records of calls made in this turn.
    fn receipts(&mut self, nonce: &str) -> impl Future<Output = Result<Vec<Receipt>, HumanError>> + Send;

    /// Says whether the human ended the run in an answer that leaves no receipt, such as one about an approval.
    fn has_ended(&self) -> bool {
        false
    }
}

/// The tags of the envelope that `cueme cue` reads.
const TAGS: [&str; 4] = [
    "<cueme_prompt>",
    "</cueme_prompt>",
    "<cueme_payload>",
    "</cueme_payload>",
];

/// Returns an agent's words without the tags of an envelope, which mean nothing to a human.
pub fn without_tags(words: &str) -> String {
    let mut kept = Vec::new();
    for line in words.trim().lines() {
        let plain = TAGS
            .iter()
            .fold(line.to_owned(), |line, tag| line.replace(tag, ""));
        if plain == line || !plain.trim().is_empty() {
            kept.push(plain);
        }
    }
    kept.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_an_envelope_are_taken_off_and_nothing_else_is() {
        let words = "I would ask:\n<cueme_prompt>\nShip it?\n\nOr not?\n</cueme_prompt>\nif (a < b) {}";
        assert_eq!(
            without_tags(words),
            "I would ask:\nShip it?\n\nOr not?\nif (a < b) {}"
        );
        assert_eq!(without_tags("<cueme_prompt>Ship it?</cueme_prompt>"), "Ship it?");
    }
}
