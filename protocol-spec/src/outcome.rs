//! The outcome of a question, and whether the agent has received it.

use serde::{Deserialize, Serialize};

/// The verb a question was asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `cueme cue`: a question.
    Cue,
    /// `cueme pause`: the agent stops until the human lets it continue.
    Pause,
}

/// The origin of a question. A policy answers one of a hook or an approval only when a rule names that origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The agent itself.
    #[default]
    Agent,
    /// A runtime's stop hook, because the agent ended its turn without asking.
    Hook,
    /// A request to approve a command or a tool.
    Approval,
    /// The adapter that drives the agent.
    Adapter,
    /// Another program, long ago: it was imported, and whether its agent received the outcome is not known.
    Import,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not decided yet.
    Open,
    /// A human (or a policy, which is then named) answered.
    Answered,
    /// A human refused to answer; the agent receives the refusal.
    Declined,
    /// Closed without an answer.
    Cancelled,
    /// Its agent has asked something else since; still answerable.
    Superseded,
}

impl Outcome {
    /// Says whether a human may still answer.
    pub const fn is_answerable(self) -> bool {
        matches!(self, Self::Open | Self::Superseded)
    }
}

/// Says whether the program that asked withdrew a question: it was closed without an author, and the agent gets
/// nothing.
pub const fn is_withdrawn(origin: Origin, outcome: Outcome, is_by_somebody: bool) -> bool {
    matches!(origin, Origin::Hook | Origin::Approval)
        && matches!(outcome, Outcome::Cancelled)
        && !is_by_somebody
}

/// The progress of an outcome's delivery to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Not sent to any client.
    None,
    /// Sent to a waiting client, which has not acknowledged it.
    Handed,
    /// Printed and acknowledged by the client.
    Acknowledged,
}
