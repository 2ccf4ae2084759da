//! The broker's automatic actions: answers by rules, and notifications.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// The prefix of the author of an automatic answer.
pub const POLICY_PREFIX: &str = "policy:";

/// A notification that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notified {
    /// The question it was about.
    pub cue: CueId,
    /// The channel it was sent on.
    pub channel: String,
    /// The channel's id of the message, if it can be withdrawn.
    pub reference: Option<String>,
}

/// Writes the broker's automatic actions.
pub trait AutomaticRecords {
    /// Claims a question for a rule; returns whether no rule has tried it before.
    fn claim_for_policy(&self, cue: CueId, policy: &str, at: Timestamp) -> Result<bool, StoreError>;
}

/// Reads the broker's automatic actions.
pub trait AutomaticReads {
    /// Returns how often a rule has answered, and when last.
    fn policy_use(&self, policy: &str) -> Result<(u64, Option<Timestamp>), StoreError>;

    /// Returns how many of an agent's answers up to now were automatic, without a human's in between.
    fn automatic_in_a_row(&self, agent: &AgentId) -> Result<u32, StoreError>;

    /// Returns whether a rule has tried a question.
    fn is_claimed(&self, cue: CueId) -> Result<bool, StoreError>;

    /// Returns every notification that was not withdrawn.
    fn notified(&self) -> Result<Vec<Notified>, StoreError>;
}
