//! Questions shown on other surfaces: claims, message ids, and read cursors.

use cueme_store::{Notified, StoreError, SurfaceReads, SurfaceRecords, parse_id};
use protocol_spec::id::CueId;
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::SqliteReader;
use super::SqliteStore;

impl SurfaceRecords for SqliteStore {
    fn claim_notice(&self, cue: CueId, channel: &str, at: Timestamp) -> Result<bool, StoreError> {
        let claimed = self.execute(
            "INSERT OR IGNORE INTO notified (cue_id, channel, at) VALUES (?1, ?2, ?3)",
            params![cue.as_str(), channel, at.as_millis()],
        )?;
        Ok(claimed > 0)
    }

    fn keep_reference(&self, cue: CueId, channel: &str, reference: &str) -> Result<bool, StoreError> {
        let kept = self.execute(
            "UPDATE notified SET reference = ?3 WHERE cue_id = ?1 AND channel = ?2",
            params![cue.as_str(), channel, reference],
        )?;
        Ok(kept > 0)
    }

    fn forget_notice(&self, cue: CueId, channel: &str) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM notified WHERE cue_id = ?1 AND channel = ?2",
            params![cue.as_str(), channel],
        )
    }
}

impl SurfaceReads for SqliteReader {
    fn notice(&self, cue: CueId, channel: &str) -> Result<Option<Notified>, StoreError> {
        self.with(|connection| {
            let found = connection
                .prepare_cached("SELECT reference FROM notified WHERE cue_id = ?1 AND channel = ?2")?
                .query_row(params![cue.as_str(), channel], |row| row.get(0))
                .optional()?;
            Ok(found.map(|reference| Notified {
                cue,
                channel: channel.to_owned(),
                reference,
            }))
        })
    }

    fn notices_on(&self, channel: &str) -> Result<Vec<Notified>, StoreError> {
        self.rows(
            "SELECT cue_id, reference FROM notified WHERE channel = ?1",
            params![channel],
            |row| {
                Ok(Notified {
                    cue: parse_id(row.get(0)?)?,
                    channel: channel.to_owned(),
                    reference: row.get(1)?,
                })
            },
        )
    }
}
