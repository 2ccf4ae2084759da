//! Webhooks that were received: each is acted on once, also after a restart.

use std::time::Duration;

use cueme_store::{DeliveryRecords, StoreError};
use protocol_spec::time::Timestamp;

use crate::statements::params;
use crate::store::PostgresStore;

/// The time that a delivery is remembered; senders stop retrying long before.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl DeliveryRecords for PostgresStore {
    fn keep_delivery(
        &self,
        delivery_id: &str,
        session: &str,
        status: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let life = i64::try_from(REMEMBERED.as_millis()).unwrap_or(i64::MAX);
        self.note_record(
            "DELETE FROM deliveries WHERE received_at < $1",
            params![at.as_millis().saturating_sub(life)],
        )?;
        self.has_noted(
            "INSERT INTO deliveries (delivery_id, session, status, received_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT DO NOTHING",
            params![delivery_id, session, status, at.as_millis()],
        )
    }
}
