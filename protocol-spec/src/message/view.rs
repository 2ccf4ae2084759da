//! Agents, questions and events as humans and programs are shown them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::id::{AgentId, CueId, RuntimeTag};
use crate::outcome::{Delivery, Kind, Origin, Outcome, is_withdrawn};
use crate::time::Timestamp;

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its id.
    pub agent_id: AgentId,
    /// The runtime it lives in.
    pub agent_runtime: RuntimeTag,
    /// The directory it works in.
    pub project_dir: String,
    /// Its shell family.
    pub agent_terminal: String,
    /// The name a human gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it joined.
    pub joined_at: Timestamp,
    /// When it last said something.
    pub seen_at: Timestamp,
    /// Its open questions.
    pub open_cues: u32,
    /// Clients that wait for one of its outcomes.
    pub waiting: u32,
    /// Messages that wait for its next question.
    pub queued: u32,
    /// Whether a human put it out of sight, until it asks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CueView {
    /// Its id.
    pub cue_id: CueId,
    /// Its place in the order of all questions.
    pub seq: i64,
    /// The asking agent.
    pub agent_id: AgentId,
    /// The runtime of that agent.
    pub agent_runtime: RuntimeTag,
    /// The directory that agent works in.
    pub project_dir: String,
    /// The verb.
    pub kind: Kind,
    /// The origin of the question.
    pub origin: Origin,
    /// The question.
    pub prompt: String,
    /// The payload as the agent wrote it.
    pub payload: Option<Box<RawValue>>,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether the agent knows.
    pub delivery: Delivery,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The number of clients that wait for the outcome.
    pub waiting: u32,
    /// The time since which no client has waited; absent when a client waits or the question is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached_at: Option<Timestamp>,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
    /// When the decision is released to the agent, if it can still be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
    /// When the agent acknowledged the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<Timestamp>,
    /// The author of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether a queued answer answered it, before any human saw it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_queue: bool,
    /// Whether its record is damaged on the disk: the question is out of service, and its decision is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Whether its agent works in a run that has not ended, which an answer can end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_run: bool,
    /// The text that the agent reads, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The answer as data, secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Whether an answer that is left out here, because it does not fit, ends the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_run: bool,
}

impl CueView {
    /// Says whether the human ended the run with the answer.
    pub fn ends_run(&self) -> bool {
        self.ends_run || self.answer.as_ref().is_some_and(|answer| answer.ends_run)
    }

    /// Says whether a human may still answer.
    pub const fn is_answerable(&self) -> bool {
        self.outcome.is_answerable() && !self.damaged
    }

    /// Says whether the program that asked took the question back.
    pub const fn is_withdrawn(&self) -> bool {
        is_withdrawn(self.origin, self.outcome, self.by.is_some()) && !self.damaged
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView {
    /// Its place in the log; presence events have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// When it happened.
    pub at: Timestamp,
    /// The kind of event.
    pub what: EventKind,
    /// The agent concerned.
    pub agent_id: AgentId,
    /// The question concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cue_id: Option<CueId>,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An agent joined.
    Joined,
    /// A question was asked.
    Asked,
    /// A question was answered.
    Answered,
    /// A question was declined.
    Declined,
    /// A question was closed.
    Cancelled,
    /// A question was left behind.
    Superseded,
    /// A question left behind was asked again, or an answer was taken back.
    Reopened,
    /// An outcome was acknowledged.
    Delivered,
    /// A message was left.
    Said,
    /// A client waits for an outcome (live, not logged).
    Waiting,
    /// No client waits any more (live, not logged).
    Detached,
    /// A held answer can no longer be taken back.
    Released,
    /// The messages that wait for an agent were reordered, reworded or deleted.
    Queue,
    /// An agent was named, pinned, archived or instructed.
    Changed,
}
