//! Questions shown on other surfaces: the claims of channels, and their message ids.

use cueme_store::{StoreError, SurfaceRecords};
use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;

use crate::statements::params;
use crate::store::PostgresStore;

impl SurfaceRecords for PostgresStore {
    fn claim_notice(&self, cue: CueId, channel: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.has_noted(
            "INSERT INTO notified (cue_id, channel, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            params![cue.as_str(), channel, at.as_millis()],
        )
    }

    fn keep_reference(&self, cue: CueId, channel: &str, reference: &str) -> Result<bool, StoreError> {
        self.has_noted(
            "UPDATE notified SET reference = $3 WHERE cue_id = $1 AND channel = $2",
            params![cue.as_str(), channel, reference],
        )
    }

    fn forget_notice(&self, cue: CueId, channel: &str) -> Result<(), StoreError> {
        self.note_record(
            "DELETE FROM notified WHERE cue_id = $1 AND channel = $2",
            params![cue.as_str(), channel],
        )
    }
}
