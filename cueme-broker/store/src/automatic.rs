//! What the broker did by itself: answers by rules, and notifications.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;

use crate::StoreError;

/// How the author of an automatic answer begins.
pub const POLICY_PREFIX: &str = "policy:";

/// A notification that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notified {
    /// The question it was about.
    pub cue: CueId,
    /// Where it was sent.
    pub channel: String,
    /// How the channel calls it, when it can be taken back.
    pub reference: Option<String>,
}

/// Notes what the broker does by itself.
pub trait AutomaticRecords {
    /// Claims a question for a rule; returns whether no rule has tried it before.
    fn claim_for_policy(&self, cue: CueId, policy: &str, at: Timestamp) -> Result<bool, StoreError>;
}

/// Reads what the broker did by itself.
pub trait AutomaticReads {
    /// Returns how often a rule has answered, and when last.
    fn policy_use(&self, policy: &str) -> Result<(u64, Option<Timestamp>), StoreError>;

    /// Returns how many of an agent's answers up to now were automatic, without a human's in between.
    fn automatic_in_a_row(&self, agent: &AgentId) -> Result<u32, StoreError>;

    /// Returns whether a rule has tried a question.
    fn is_claimed(&self, cue: CueId) -> Result<bool, StoreError>;

    /// Returns every notification that was not taken back.
    fn notified(&self) -> Result<Vec<Notified>, StoreError>;
}
