//! Settings of humans, as JSON values by name; and read marks.

use cueme_store::{SettingRecords, StoreError};
use protocol_spec::id::{AgentId, CueId};

use crate::statements::params;
use crate::store::PostgresStore;

impl SettingRecords for PostgresStore {
    fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.record(
            "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            params![name, value],
        )
    }

    fn mark_read(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError> {
        self.record(
            "UPDATE agents SET read_seq = greatest(read_seq, $2) WHERE agent_id = $1",
            params![agent.as_str(), seq],
        )
    }

    fn mark_unread(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError> {
        self.record(
            "UPDATE agents SET read_seq = least(read_seq, $2 - 1) WHERE agent_id = $1",
            params![agent.as_str(), seq],
        )
    }

    fn mark_seen(&self, cue: CueId) -> Result<(), StoreError> {
        self.record(
            "UPDATE cues SET automatic = false WHERE cue_id = $1 AND automatic",
            params![cue.as_str()],
        )
    }
}
