//! One-time tokens that were not exchanged yet.

use cueme_store::{BootstrapRecord, BootstrapRecords, StoreError};
use protocol_spec::time::Timestamp;

use crate::fault::Fault;
use crate::statements::params;
use crate::store::PostgresStore;
use crate::text::Text;

impl BootstrapRecords for PostgresStore {
    fn add_bootstrap(&self, record: &BootstrapRecord, now: Timestamp) -> Result<(), StoreError> {
        self.note_record(
            "DELETE FROM bootstraps WHERE expires_at <= $1",
            params![now.as_millis()],
        )?;
        self.note_record(
            "INSERT INTO bootstraps (token_hash, agent_id, run_id, expires_at) VALUES ($1, $2, $3, $4)",
            params![
                &record.token_hash,
                &record.agent_id,
                &record.run_id,
                record.expires_at_ms
            ],
        )
    }

    fn take_bootstrap(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, StoreError> {
        let row = self.query_one(
            "DELETE FROM bootstraps WHERE token_hash = $1 RETURNING agent_id, run_id, expires_at",
            params![token_hash],
        )?;
        let Some(row) = row else { return Ok(None) };
        self.mark_dirty();
        let read = || -> Result<BootstrapRecord, Fault> {
            Ok(BootstrapRecord {
                token_hash: *token_hash,
                agent_id: row.try_get::<_, Text>(0)?.0,
                run_id: row.try_get::<_, Text>(1)?.0,
                expires_at_ms: row.try_get(2)?,
            })
        };
        Ok(Some(read()?))
    }
}
