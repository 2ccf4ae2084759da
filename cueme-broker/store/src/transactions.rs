//! Transactions: the engine loads what the rules need, applies the changes they decide, and commits.

use cueme_rules::{Change, Cue, Known, Machine, Message, Now};
use protocol_spec::answer::Question;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{EventKind, EventView};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// Names a batch, so that it can be found out afterwards whether it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchId(pub u64);

/// A question the store knows.
#[derive(Debug)]
pub struct Remembered {
    /// Its id.
    pub id: CueId,
    /// What the rules have to know of it.
    pub cue: Cue,
}

/// A question as an answer has to be checked against it.
#[derive(Debug)]
pub struct PlainQuestion {
    /// The verb.
    pub kind: Kind,
    /// The payload.
    pub payload: Option<Payload>,
}

impl PlainQuestion {
    /// Returns what an answer is checked against.
    pub fn as_question(&self) -> Question<'_> {
        Question::new(self.kind, self.payload.as_ref())
    }
}

/// What other brokers of the same store changed since the last transaction of this one.
#[derive(Debug, Default)]
pub struct Foreign {
    /// The agents whose state is to be loaded anew, with their questions and messages.
    pub agents: Vec<AgentId>,
    /// What happened, in order.
    pub events: Vec<EventView>,
    /// Whether records changed that the rules do not concern, such as devices or settings. They have when the database is
    /// not the one it was.
    pub has_records: bool,
    /// Whether the others took this broker for dead, so that they know of none of its clients.
    pub is_expelled: bool,
}

/// One transaction at a time.
pub trait Transactions {
    /// Begins a transaction, and returns what other brokers changed meanwhile. Nobody else changes anything while it is open.
    fn begin(&self) -> Result<Foreign, StoreError>;

    /// Makes everything since [`begin`](Self::begin) durable, under the name of its batch.
    ///
    /// After an error it is not known whether that happened: the store is opened again, and [`has_committed`](Self::has_committed)
    /// says so.
    fn commit(&self, batch: BatchId) -> Result<(), StoreError>;

    /// Says whether the last transaction that this broker committed is this batch.
    fn has_committed(&self, batch: BatchId) -> Result<bool, StoreError>;

    /// Tells other brokers for which questions clients wait here, in place of what they knew.
    fn set_waiting(&self, _cues: &[CueId]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Undoes everything since [`begin`](Self::begin); without effect outside a transaction.
    fn roll_back(&self);
}

/// What the rules decided, inside a transaction.
pub trait Changes {
    /// Writes one change that the rules decided.
    fn apply(&self, at: Timestamp, change: &Change) -> Result<(), StoreError>;

    /// Appends to the event log and returns the event's id.
    fn log(
        &self,
        at: Timestamp,
        what: EventKind,
        agent: &AgentId,
        cue: Option<CueId>,
    ) -> Result<i64, StoreError>;
}

/// What the rules need to know.
pub trait Loads {
    /// Loads everything that is live.
    fn load(&self, now: Now) -> Result<Machine, StoreError>;

    /// Loads everything that is live of these agents, at least.
    fn load_agents(&self, now: Now, _agents: &[AgentId]) -> Result<Machine, StoreError> {
        self.load(now)
    }

    /// Finds a question by its id.
    fn cue(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, StoreError>;

    /// Finds the question a call means.
    fn cue_of_request(&self, request: RequestId) -> Result<Option<CueId>, StoreError>;

    /// Finds a question as an answer has to be checked against it.
    fn plain_question(&self, cue: CueId) -> Result<Option<PlainQuestion>, StoreError>;

    /// Finds the agent that a runtime's session joined as.
    fn agent_of_session(&self, runtime: &RuntimeTag, session: &str) -> Result<Option<AgentId>, StoreError>;

    /// Finds the agent that asked a question.
    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError>;

    /// Finds the agent a message was left for.
    fn agent_of_message(&self, message: RequestId) -> Result<Option<AgentId>, StoreError>;

    /// Returns what is known of a question that is to be imported.
    fn past_cue(&self, request: RequestId) -> Result<Known, StoreError>;
}

/// Takes damage out of the way, inside a transaction.
pub trait Repairs {
    /// Removes the damaged decision of a question and returns the notes in it that reached nobody: they wait again.
    ///
    /// The question is open then. Returns `None`, and changes nothing, when the agent has acknowledged the decision. A queued
    /// answer is used up: it was for this question.
    fn remove_damaged_decision(&self, cue: CueId) -> Result<Option<Vec<Message>>, StoreError>;
}
