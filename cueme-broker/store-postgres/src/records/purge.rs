//! Deletes old questions.

use cueme_store::{StoreError, UpkeepRecords};
use protocol_spec::time::Timestamp;

use crate::fault::Fault;
use crate::statements::params;
use crate::store::PostgresStore;

/// The most questions deleted in one transaction.
const PURGE_BATCH: i64 = 500;
/// The most events deleted in one transaction, whose lock the other brokers wait for.
const PURGE_EVENTS: u64 = 5_000;
/// Deletes the oldest events, and never the newest, whose number is the last one given.
const DELETE_EVENTS: &str = "DELETE FROM events WHERE id IN
    (SELECT id FROM events WHERE at < $1 AND id < (SELECT max(id) FROM events) ORDER BY at LIMIT $2)";

impl UpkeepRecords for PostgresStore {
    fn purge_some(&self, before: Timestamp) -> Result<(u64, bool), StoreError> {
        let rows = self.query(
            "SELECT seq FROM cues WHERE delivery = 2 AND acknowledged_at < $1 ORDER BY seq LIMIT $2",
            params![before.as_millis(), PURGE_BATCH],
        )?;
        let sequences = rows.iter().map(|row| row.try_get(0));
        let sequences: Vec<i64> = sequences.collect::<Result<_, _>>().map_err(Fault::from)?;
        let count = sequences.len() as i64;
        if count > 0 {
            for sql in [
                "DELETE FROM messages WHERE cue_id IN (SELECT cue_id FROM cues WHERE seq = ANY($1))",
                "DELETE FROM receipts WHERE cue_id IN (SELECT cue_id FROM cues WHERE seq = ANY($1))",
                // Its texts, its decision and its calls are deleted with it.
                "DELETE FROM cues WHERE seq = ANY($1)",
            ] {
                self.record(sql, params![sequences.clone()])?;
            }
        }
        if count == PURGE_BATCH {
            return Ok((count.unsigned_abs(), true));
        }
        let events = self.execute(
            DELETE_EVENTS,
            params![before.as_millis(), PURGE_EVENTS.cast_signed()],
        )?;
        if events > 0 {
            self.touch_records();
        }
        Ok((count.unsigned_abs(), events == PURGE_EVENTS))
    }

    fn count_purgeable(&self, before: Timestamp) -> Result<u64, StoreError> {
        let count: Option<i64> = self.find_one(
            "SELECT count(*) FROM cues WHERE delivery = 2 AND acknowledged_at < $1",
            params![before.as_millis()],
        )?;
        Ok(count.unwrap_or(0).unsigned_abs())
    }

    fn shrink_some(&self, _empty_percent_max: u8) -> Result<bool, StoreError> {
        // The server's own vacuum does it.
        Ok(false)
    }
}
