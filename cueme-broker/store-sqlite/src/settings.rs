//! Settings of humans, as JSON values by name; and read marks.

use cueme_store::{SettingReads, SettingRecords, StoreError};
use protocol_spec::id::{AgentId, CueId};
use rusqlite::{OptionalExtension, params};

use super::SqliteReader;
use super::SqliteStore;

impl SettingRecords for SqliteStore {
    fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)",
            params![name, value],
        )
    }

    fn mark_read(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError> {
        self.run(
            "UPDATE agents SET read_seq = max(read_seq, ?2) WHERE agent_id = ?1",
            params![agent.as_str(), seq],
        )
    }

    fn mark_unread(&self, agent: &AgentId, seq: i64) -> Result<(), StoreError> {
        self.run(
            "UPDATE agents SET read_seq = min(read_seq, ?2 - 1) WHERE agent_id = ?1",
            params![agent.as_str(), seq],
        )
    }

    fn mark_seen(&self, cue: CueId) -> Result<(), StoreError> {
        self.run(
            "UPDATE cues SET automatic = 0 WHERE cue_id = ?1 AND automatic = 1",
            params![cue.as_str()],
        )
    }
}

impl SettingReads for SqliteReader {
    fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            let found = connection
                .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
                .query_row(params![name], |row| row.get(0))
                .optional()?;
            Ok(found)
        })
    }
}
