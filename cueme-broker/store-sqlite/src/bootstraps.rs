//! One-time tokens that were not exchanged yet.

use cueme_store::{BootstrapRecord, BootstrapRecords, StoreError};
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::SqliteStore;

impl BootstrapRecords for SqliteStore {
    fn add_bootstrap(&self, record: &BootstrapRecord, now: Timestamp) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM bootstraps WHERE expires_at <= ?1",
            params![now.as_millis()],
        )?;
        self.run(
            "INSERT INTO bootstraps (token_hash, agent_id, run_id, expires_at) VALUES (?1, ?2, ?3, ?4)",
            params![
                record.token_hash,
                record.agent_id,
                record.run_id,
                record.expires_at_ms
            ],
        )
    }

    fn take_bootstrap(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, StoreError> {
        self.with(|connection| {
            let taken = connection
                .prepare_cached(
                    "DELETE FROM bootstraps WHERE token_hash = ?1 RETURNING agent_id, run_id, expires_at",
                )?
                .query_row(params![token_hash], |row| {
                    Ok(BootstrapRecord {
                        token_hash: *token_hash,
                        agent_id: row.get(0)?,
                        run_id: row.get(1)?,
                        expires_at_ms: row.get(2)?,
                    })
                })
                .optional()?;
            Ok(taken)
        })
    }
}
