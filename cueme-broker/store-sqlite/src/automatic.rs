//! The broker's automatic actions: answers by rules, and notifications.

use cueme_store::{AutomaticReads, AutomaticRecords, Notified, POLICY_PREFIX, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;
use rusqlite::params;

use super::SqliteReader;
use super::SqliteStore;

/// The most answers of an agent that are read to count the automatic ones in a row.
const IN_A_ROW_SEEN_MAX: u32 = 1000;

impl AutomaticRecords for SqliteStore {
    fn claim_for_policy(&self, cue: CueId, policy: &str, at: Timestamp) -> Result<bool, StoreError> {
        let claimed = self.execute(
            "INSERT OR IGNORE INTO automatic (cue_id, policy, at) VALUES (?1, ?2, ?3)",
            params![cue.as_str(), policy, at.as_millis()],
        )?;
        Ok(claimed > 0)
    }
}

impl AutomaticReads for SqliteReader {
    fn policy_use(&self, policy: &str) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.with(|connection| {
            let (count, last) = connection
                .prepare_cached("SELECT count(*), max(at) FROM automatic WHERE policy = ?1")?
                .query_row(params![policy], |row| {
                    Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?))
                })?;
            Ok((count, last.map(Timestamp::from_millis)))
        })
    }

    fn automatic_in_a_row(&self, agent: &AgentId) -> Result<u32, StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT ifnull(d.decided_by, '') FROM cues c JOIN decisions d USING (seq)
                 WHERE c.agent_id = ?1 ORDER BY c.seq DESC LIMIT ?2",
            )?;
            let mut rows = statement.query(params![agent.as_str(), IN_A_ROW_SEEN_MAX])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                if !row.get::<_, String>(0)?.starts_with(POLICY_PREFIX) {
                    break;
                }
                count += 1;
            }
            Ok(count)
        })
    }

    fn is_claimed(&self, cue: CueId) -> Result<bool, StoreError> {
        self.with(|connection| {
            Ok(connection
                .prepare_cached("SELECT count(*) FROM automatic WHERE cue_id = ?1")?
                .query_row(params![cue.as_str()], |row| row.get::<_, u32>(0))?
                > 0)
        })
    }

    fn notified(&self) -> Result<Vec<Notified>, StoreError> {
        self.rows("SELECT cue_id, channel, reference FROM notified", [], |row| {
            Ok(Notified {
                cue: parse_id(row.get(0)?)?,
                channel: row.get(1)?,
                reference: row.get(2)?,
            })
        })
    }
}
