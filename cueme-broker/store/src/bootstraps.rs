//! One-time tokens that were not exchanged yet.

use protocol_spec::time::Timestamp;

use crate::StoreError;

/// A one-time token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapRecord {
    /// The hash of the token.
    pub token_hash: [u8; 32],
    /// The agent it is for.
    pub agent_id: String,
    /// The run it is for.
    pub run_id: String,
    /// When it expires, in milliseconds since 1970.
    pub expires_at_ms: i64,
}

/// Keeps one-time tokens.
pub trait BootstrapRecords {
    /// Keeps a token, and forgets those that have expired.
    fn add_bootstrap(&self, record: &BootstrapRecord, now: Timestamp) -> Result<(), StoreError>;

    /// Takes a token out atomically: of two callers at most one gets it.
    fn take_bootstrap(&self, token_hash: &[u8; 32]) -> Result<Option<BootstrapRecord>, StoreError>;
}
