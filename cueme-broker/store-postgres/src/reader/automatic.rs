//! The broker's automatic actions: answers by rules, and notifications.

use cueme_store::{AutomaticReads, Notified, POLICY_PREFIX, StoreError};
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::time::Timestamp;
use tokio_postgres::Row;

use super::row::Columns;
use super::{Fault, PostgresReader};
use crate::text::encode;

/// The most answers of an agent that are read to count the automatic ones in a row.
const IN_A_ROW_SEEN_MAX: i64 = 1000;

impl AutomaticReads for PostgresReader {
    fn policy_use(&self, policy: &str) -> Result<(u64, Option<Timestamp>), StoreError> {
        let row = self.row(
            "SELECT count(*), max(at) FROM automatic WHERE policy = $1",
            &[&encode(policy)],
        )?;
        let Some(row) = row else { return Ok((0, None)) };
        Ok((row.count(0)?, row.maybe_time(1)?))
    }

    fn automatic_in_a_row(&self, agent: &AgentId) -> Result<u32, StoreError> {
        let rows = self.rows(
            "SELECT coalesce(d.decided_by, '') FROM cues c JOIN decisions d USING (seq)
             WHERE c.agent_id = $1 ORDER BY c.seq DESC LIMIT $2",
            &[&agent.as_str(), &IN_A_ROW_SEEN_MAX],
        )?;
        let mut count = 0;
        for row in rows {
            if !row.text(0)?.starts_with(POLICY_PREFIX) {
                break;
            }
            count += 1;
        }
        Ok(count)
    }

    fn is_claimed(&self, cue: CueId) -> Result<bool, StoreError> {
        Ok(self
            .row("SELECT 1 FROM automatic WHERE cue_id = $1", &[&cue.as_str()])?
            .is_some())
    }

    fn notified(&self) -> Result<Vec<Notified>, StoreError> {
        let rows = self.rows(
            "SELECT cue_id, channel, reference FROM notified ORDER BY cue_id, channel",
            &[],
        )?;
        Ok(rows.iter().map(notified).collect::<Result<_, _>>()?)
    }
}

pub(super) fn notified(row: &Row) -> Result<Notified, Fault> {
    Ok(Notified {
        cue: row.id(0)?,
        channel: row.text(1)?,
        reference: row.maybe_text(2)?,
    })
}
