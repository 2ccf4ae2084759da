//! One-time tokens that were not exchanged yet.

use crate::callback::{BootstrapRecord, BootstrapStore};
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};

/// The one-time tokens of a store, as the exchange sees them.
#[derive(Debug, Clone, Copy)]
pub struct Bootstraps<'a> {
    /// The store, in a transaction.
    pub store: &'a Store,
    /// What time it is.
    pub now: Timestamp,
}

impl BootstrapStore for Bootstraps<'_> {
    type Error = StoreError;

    fn insert(&self, record: &BootstrapRecord) -> Result<(), StoreError> {
        self.store.run(
            "DELETE FROM bootstraps WHERE expires_at <= ?1",
            params![self.now.as_millis()],
        )?;
        self.store.run(
            "INSERT INTO bootstraps (token_hash, agent_id, run_id, expires_at) VALUES (?1, ?2, ?3, ?4)",
            params![
                record.token_hash,
                record.agent_id,
                record.run_id,
                record.expires_at_ms
            ],
        )
    }

    fn take(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, StoreError> {
        let taken = self
            .store
            .connection
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
    }
}
