//! The broker's automatic actions: answers by rules.

use cueme_store::{AutomaticRecords, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::statements::params;
use crate::store::PostgresStore;

impl AutomaticRecords for PostgresStore {
    fn claim_for_policy(&self, cue: CueId, policy: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.has_noted(
            "INSERT INTO automatic (cue_id, policy, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            params![cue.as_str(), policy, at.as_millis()],
        )
    }
}
