//! Settings of humans, as JSON values by name; and read marks.

use protocol_spec::id::{AgentId, CueId};

use crate::StoreError;

/// Writes settings and read marks.
pub trait SettingRecords {
    /// Keeps a value.
    fn set(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// Notes that a human has looked at an agent's questions up to `seq`.
    fn mark_read(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError>;

    /// Makes an agent's questions from `seq` on unread again.
    fn mark_unread(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError>;

    /// Notes that a human has looked at an automatic answer.
    fn mark_seen(&self, cue: CueId) -> Result<(), StoreError>;
}

/// Reads settings.
pub trait SettingReads {
    /// Returns a value.
    fn setting(&self, name: &str) -> Result<Option<String>, StoreError>;
}
