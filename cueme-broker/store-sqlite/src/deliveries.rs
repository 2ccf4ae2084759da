//! Webhooks that were received: each is acted on once, also after a restart.

use std::time::Duration;

use cueme_store::{DeliveryRecords, StoreError};
use protocol_spec::time::Timestamp;
use rusqlite::params;

use super::SqliteStore;

/// The time that a delivery is remembered; senders stop retrying long before.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl DeliveryRecords for SqliteStore {
    fn keep_delivery(
        &self,
        delivery_id: &str,
        session: &str,
        status: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let life = i64::try_from(REMEMBERED.as_millis()).unwrap_or(i64::MAX);
        self.run(
            "DELETE FROM deliveries WHERE received_at < ?1",
            params![at.as_millis().saturating_sub(life)],
        )?;
        let added = self.execute(
            "INSERT OR IGNORE INTO deliveries (delivery_id, session, status, received_at) VALUES (?1, ?2, ?3, ?4)",
            params![delivery_id, session, status, at.as_millis()],
        )?;
        Ok(added > 0)
    }
}
