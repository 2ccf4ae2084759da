//! Webhooks that were received: each is acted on once, also after a restart.

use protocol_spec::time::Timestamp;

use crate::StoreError;

/// Keeps webhooks.
pub trait DeliveryRecords {
    /// Keeps a delivery; returns whether it is new.
    fn keep_delivery(
        &self,
        delivery_id: &str,
        session: &str,
        status: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
