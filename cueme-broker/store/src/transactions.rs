//! Transactions: the engine loads the state for the rules, applies their changes, and commits.

use cueme_rules::{Change, Cue, Known, Machine, Message, Now};
use protocol_spec::answer::Question;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::{EventKind, EventView};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;

use crate::{Pass, StoreError};

/// The name of a batch, to find out afterwards whether it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchId(pub u64);

/// A question the store knows.
#[derive(Debug)]
pub struct Remembered {
    /// Its id.
    pub id: CueId,
    /// Its state, for the rules.
    pub cue: Cue,
}

/// A question with the data to check an answer against.
#[derive(Debug)]
pub struct PlainQuestion {
    /// The verb.
    pub kind: Kind,
    /// The payload.
    pub payload: Option<Payload>,
}

impl PlainQuestion {
    /// Returns the question to check an answer against.
    pub fn as_question(&self) -> Question<'_> {
        Question::new(self.kind, self.payload.as_ref())
    }
}

/// The changes of other brokers of the same store since the last transaction of this one.
#[derive(Debug, Default)]
pub struct Foreign {
    /// The agents whose state is to be loaded anew, with their questions and messages.
    pub agents: Vec<AgentId>,
    /// The events, in order.
    pub events: Vec<EventView>,
    /// Whether records outside the rules changed, such as devices or settings. True after the database was replaced by
    /// another.
    pub has_records: bool,
    /// Whether the others took this broker for dead, so that they dropped its clients.
    pub is_expelled: bool,
}

/// Look-ups that the orders of a batch will make.
#[derive(Debug, Default)]
pub struct LookUps {
    /// Calls whose question will be looked up.
    pub requests: Vec<RequestId>,
    /// Credentials that will be checked.
    pub passes: Vec<Pass>,
}

/// One transaction at a time.
pub trait Transactions {
    /// Announces look-ups of the open transaction, or of the next one. A store whose look-ups are round trips makes them
    /// together.
    fn expect(&self, _look_ups: LookUps) {}

    /// Begins a transaction, and returns the changes of other brokers. No other broker changes anything while it is
    /// open.
    fn begin(&self) -> Result<Foreign, StoreError>;

    /// Makes everything since [`begin`](Self::begin) durable, under the name of its batch.
    ///
    /// After an error it is not known whether that happened: the store is opened again, and [`has_committed`](Self::has_committed)
    /// says so.
    fn commit(&self, batch: BatchId) -> Result<(), StoreError>;

    /// Says whether the last transaction that this broker committed is this batch.
    fn has_committed(&self, batch: BatchId) -> Result<bool, StoreError>;

    /// Publishes to other brokers the questions that clients of this one wait for, replacing the earlier list.
    fn set_waiting(&self, _cues: &[CueId]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Undoes everything since [`begin`](Self::begin); without effect outside a transaction.
    fn roll_back(&self);
}

/// Writes the decisions of the rules, inside a transaction.
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

/// Loads the state for the rules.
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

    /// Returns the stored state of a question to import.
    fn past_cue(&self, request: RequestId) -> Result<Known, StoreError>;
}

/// Repairs damage, inside a transaction.
pub trait Repairs {
    /// Removes the damaged decision of a question and returns its undelivered notes, which wait again.
    ///
    /// The question is open then. Returns `None`, and changes nothing, when the agent has acknowledged the decision. A
    /// queued answer is not returned: it was for this question.
    fn remove_damaged_decision(&self, cue: CueId) -> Result<Option<Vec<Message>>, StoreError>;
}
