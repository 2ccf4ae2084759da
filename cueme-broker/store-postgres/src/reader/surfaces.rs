//! Questions shown on other surfaces: claims and messages.

use cueme_store::{Notified, StoreError, SurfaceReads};
use protocol_spec::id::CueId;

use super::PostgresReader;
use super::automatic::notified;
use crate::text::encode;

impl SurfaceReads for PostgresReader {
    fn notice(&self, cue: CueId, channel: &str) -> Result<Option<Notified>, StoreError> {
        let row = self.row(
            "SELECT cue_id, channel, reference FROM notified WHERE cue_id = $1 AND channel = $2",
            &[&cue.as_str(), &encode(channel)],
        )?;
        Ok(row.as_ref().map(notified).transpose()?)
    }

    fn notices_on(&self, channel: &str) -> Result<Vec<Notified>, StoreError> {
        let rows = self.rows(
            "SELECT cue_id, channel, reference FROM notified WHERE channel = $1 ORDER BY cue_id",
            &[&encode(channel)],
        )?;
        Ok(rows.iter().map(notified).collect::<Result<_, _>>()?)
    }
}
