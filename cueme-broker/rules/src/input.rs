//! The inputs of the machine.

use std::sync::Arc;

use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{PastAgent, Purpose, RefusedCue};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::time::Timestamp;

use super::cue::ContentKey;

/// The present, as data: the wall clock for what is recorded, a steady clock for what is timed.
///
/// Only the steady clock decides when something is due, so a wall clock that is set forward or back makes nothing
/// happen early or late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Wall-clock time.
    pub wall: Timestamp,
    /// Milliseconds on a clock that never goes backwards.
    pub steady: u64,
}

/// Names the caller that replies go to. A caller that waits keeps its ticket until it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// An input of the machine.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "inputs are handled one at a time, never stored"
)]
pub enum Input {
    /// An agent registers.
    Join(Join),
    /// An agent learns which session it is.
    Bind {
        /// The caller.
        ticket: Ticket,
        /// The agent.
        agent: AgentId,
        /// The runtime's name for the conversation.
        session: String,
    },
    /// An agent asks and waits.
    Ask(Ask),
    /// A program waits again for a question it knows.
    Attach {
        /// The caller.
        ticket: Ticket,
        /// The question.
        cue: CueId,
    },
    /// A client printed outcomes.
    Ack {
        /// The caller.
        ticket: Ticket,
        /// The questions.
        cues: Vec<CueId>,
        /// The turn's mark.
        nonce: Option<String>,
    },
    /// A client stops waiting because its runtime allows no more.
    Rest {
        /// The caller.
        ticket: Ticket,
        /// The question.
        cue: CueId,
    },
    /// A caller's connection is gone.
    Gone {
        /// The caller.
        ticket: Ticket,
    },
    /// A human decides a question.
    Decide(Decide),
    /// A human takes back an answer that was not released.
    Undo {
        /// The caller.
        ticket: Ticket,
        /// The question.
        cue: CueId,
    },
    /// A human leaves a message.
    Say(Say),
    /// A program fetches everything a human left for an agent.
    Collect(Collect),
    /// Records of another program arrive.
    Import(Import),
    /// A human changes the messages that wait for an agent.
    EditQueue {
        /// The caller.
        ticket: Ticket,
        /// The agent.
        agent: AgentId,
        /// The edit.
        edit: QueueEdit,
    },
    /// A human names, pins, archives or instructs an agent.
    Amend {
        /// The caller.
        ticket: Ticket,
        /// The agent.
        agent: AgentId,
        /// The amendment.
        amendment: Amendment,
    },
    /// A human is there: they looked at something or wrote something.
    HumanSeen,
    /// Time passed; see [`Machine::next_due`](super::Machine::next_due).
    Tick,
}

impl Input {
    /// Says whether it is a sign of a human.
    pub(super) fn is_of_human(&self) -> bool {
        match self {
            Self::Decide(_) | Self::Undo { .. } | Self::Say(_) | Self::EditQueue { .. } | Self::HumanSeen => {
                true
            }
            Self::Join(_)
            | Self::Bind { .. }
            | Self::Ask(_)
            | Self::Attach { .. }
            | Self::Ack { .. }
            | Self::Rest { .. }
            | Self::Gone { .. }
            | Self::Collect(_)
            | Self::Import(_)
            | Self::Amend { .. }
            | Self::Tick => false,
        }
    }
}

/// An agent registers.
#[derive(Debug, Clone)]
pub struct Join {
    /// The caller.
    pub ticket: Ticket,
    /// A fresh id that no agent has.
    pub agent: AgentId,
    /// The runtime it lives in.
    pub runtime: RuntimeTag,
    /// The directory it works in.
    pub project_dir: String,
    /// Its shell family.
    pub terminal: String,
    /// The runtime's name for the conversation.
    pub session: Option<String>,
}

/// An agent asks and waits.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of this call.
    pub request: RequestId,
    /// The question that this call meant before, if it was made before.
    pub known: Option<CueId>,
    /// A fresh id, used if this turns out to be a new question.
    pub cue: CueId,
    /// The asking agent.
    pub agent: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The question.
    pub prompt: Arc<str>,
    /// The payload as written.
    pub payload: Option<Arc<str>>,
    /// The identity of its content: two questions with the same key are the same.
    pub content: ContentKey,
    /// The origin of the question.
    pub origin: Origin,
}

/// A program fetches everything a human left for an agent.
#[derive(Debug, Clone)]
pub struct Collect {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of this call.
    pub request: RequestId,
    /// The delivery that this call meant before, if it was made before.
    pub known: Option<CueId>,
    /// A fresh id, used if there are messages to deliver.
    pub cue: CueId,
    /// The content key of this delivery, different from that of any question.
    pub content: ContentKey,
    /// The agent.
    pub agent: AgentId,
    /// The reason for closing the questions that the agent left behind; `None` leaves them open.
    pub close: Option<String>,
}

/// Records of another program.
#[derive(Debug, Clone)]
pub struct Import {
    /// The caller.
    pub ticket: Ticket,
    /// Agents.
    pub agents: Vec<PastAgent>,
    /// Questions, each with what the store knows of it.
    pub cues: Vec<(PastCue, Known)>,
    /// Questions that could not be read.
    pub refused: Vec<RefusedCue>,
}

/// The state of an imported question in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Not in the store.
    No,
    /// It was imported without an outcome.
    LeftOpen(CueId),
    /// It is complete in the store.
    Whole,
}

/// A question that was asked elsewhere. It is settled: no client waits for it, and its agent gets nothing.
#[derive(Debug, Clone)]
pub struct PastCue {
    /// Its permanent key.
    pub request: RequestId,
    /// A fresh id.
    pub cue: CueId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The verb.
    pub kind: Kind,
    /// The question.
    pub prompt: Arc<str>,
    /// The payload as written.
    pub payload: Option<Arc<str>>,
    /// The identity of its content: two questions with the same key are the same.
    pub content: ContentKey,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// Its outcome.
    pub end: PastEnd,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// The outcome of a question in another program.
#[derive(Debug, Clone)]
pub enum PastEnd {
    /// It was answered.
    Answered {
        /// The text.
        text: String,
        /// The answer as data.
        answer: Arc<Answer>,
    },
    /// It was closed.
    Closed {
        /// Why.
        reason: Option<String>,
    },
    /// It was left open.
    LeftOpen,
}

/// A human decides a question.
#[derive(Debug, Clone)]
pub struct Decide {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of this decision.
    pub request: RequestId,
    /// The question.
    pub cue: CueId,
    /// The decision.
    pub verdict: Verdict,
    /// The author of the decision.
    pub by: Option<String>,
    /// The time during which the decision can be undone, before it is released, in milliseconds.
    pub hold_ms: u64,
    /// The reminder that goes below the text.
    pub reminder: Option<Arc<str>>,
}

/// A human's decision. Answers are checked against their question and rendered before they come here.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "verdicts are handled one at a time, never stored"
)]
pub enum Verdict {
    /// An answer.
    Answer {
        /// The text the agent reads.
        text: String,
        /// The answer as data.
        answer: Answer,
        /// Both again with the secrets removed, when there are any.
        redacted: Option<(String, Answer)>,
    },
    /// A refusal.
    Decline {
        /// Why.
        reason: Option<String>,
    },
    /// Closed without an answer.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
}

/// A human leaves a message.
#[derive(Debug, Clone)]
pub struct Say {
    /// The caller.
    pub ticket: Ticket,
    /// The permanent key of this message.
    pub request: RequestId,
    /// The agent it is for.
    pub agent: AgentId,
    /// The message.
    pub text: String,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its author.
    pub by: Option<String>,
}

/// A change to the messages that wait for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueEdit {
    /// Deletes a message.
    Delete(RequestId),
    /// Rewords a message; it keeps its place.
    Reword(RequestId, String),
    /// Puts the messages in this order, which names each of them.
    Reorder(Vec<RequestId>),
}

/// The changes that a human makes to an agent; an absent field stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amendment {
    /// Its name.
    pub name: Option<Option<String>>,
    /// Whether it stands above the others.
    pub pinned: Option<bool>,
    /// Whether it is out of sight, until it asks again.
    pub archived: Option<bool>,
    /// The standing instruction, appended to each of its answers.
    pub standing: Option<Option<Arc<str>>>,
}
