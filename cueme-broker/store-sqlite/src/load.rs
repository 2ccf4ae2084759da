//! Loads the state that the machine keeps in memory: everything live, and single settled questions on demand.

use std::str::FromStr;

use cueme_store::rows::{Columns, live_agent, live_question, waiting_message};
use cueme_store::{Code, Loads, PlainQuestion, Remembered, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::outcome::{Delivery, Kind};
use protocol_spec::payload::Payload;
use rusqlite::{OptionalExtension, Row, ToSql, params};

use super::SqliteStore;
use super::columns::SqliteRow;
use super::fault::Fault;
use super::reader::read_rows;
use cueme_rules::{Known, LEFT_OPEN, Machine, Message, Now, State};

/// The column after those of [`waiting_message`]: the agent that the message waits for.
const MESSAGE_AGENT_ID: usize = 5;

/// The characters of a prompt that are read to find its beginning.
const BEGINNING_READ_CHARS: u32 = 2000;

/// The columns of [`live_question`].
const COLUMNS: &str = "c.seq, c.cue_id, c.agent_id, c.kind, c.content, c.outcome, c.delivery, c.handed_at,
    substr(q.prompt, 1, ?1), q.payload IS NOT NULL, c.asked_at,
    d.request_id, d.text, d.reminder, d.answer, d.redacted_answer, d.decided_by, d.decided_at, d.released_at,
    c.origin, d.seal, d.redacted_text, c.detached_at
    FROM cues c JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

/// Returns the query for everything that is live.
fn live() -> String {
    // Written out, because SQLite cannot use the partial index of live rows for a bound number.
    let settled = Delivery::Acknowledged.number();
    format!("SELECT {COLUMNS} WHERE c.delivery < {settled} ORDER BY c.seq")
}

impl Loads for SqliteStore {
    fn load(&self, now: Now) -> Result<Machine, StoreError> {
        let mut machine = Machine::default();
        self.load_agents(&mut machine)?;
        self.load_messages(&mut machine)?;
        self.load_live(now, &mut machine)?;
        Ok(machine)
    }

    fn cue_of_request(&self, request: RequestId) -> Result<Option<CueId>, StoreError> {
        self.find_id(
            "SELECT cue_id FROM cues WHERE seq = (SELECT seq FROM requests WHERE request_id = ?1)",
            params![request.0.as_bytes()],
        )
    }

    fn cue(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, StoreError> {
        Ok(self.find(now, cue)?)
    }

    fn plain_question(&self, cue: CueId) -> Result<Option<PlainQuestion>, StoreError> {
        let found: Option<(i64, Option<String>)> = self.with(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT c.kind, q.payload FROM cues c JOIN questions q USING (seq) WHERE c.cue_id = ?1",
                )?
                .query_row(params![cue.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?)
        })?;
        let Some((kind, payload)) = found else {
            return Ok(None);
        };
        let payload = payload
            .as_deref()
            .map(Payload::parse)
            .transpose()
            .map_err(|error| StoreError::DamagedQuestion {
                cue: cue.to_string(),
                what: error.to_string(),
            })?;
        Ok(Some(PlainQuestion {
            kind: Kind::from_number(kind)?,
            payload,
        }))
    }

    fn agent_of_session(&self, runtime: &RuntimeTag, session: &str) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM agents WHERE runtime = ?1 AND session = ?2",
            params![runtime.as_str(), session],
        )
    }

    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM cues WHERE cue_id = ?1",
            params![cue.as_str()],
        )
    }

    fn agent_of_message(&self, message: RequestId) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM messages WHERE request_id = ?1",
            params![message.0.as_bytes()],
        )
    }

    fn past_cue(&self, request: RequestId) -> Result<Known, StoreError> {
        let found: Option<(String, bool)> = self.with(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT c.cue_id, ifnull(d.request_id = ?2, 0) FROM requests r JOIN cues c USING (seq)
                     LEFT JOIN decisions d USING (seq) WHERE r.request_id = ?1",
                )?
                .query_row(params![request.0.as_bytes(), LEFT_OPEN.0.as_bytes()], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?)
        })?;
        Ok(match found {
            None => Known::No,
            Some((_, false)) => Known::Whole,
            Some((cue, true)) => Known::LeftOpen(parse_id(cue)?),
        })
    }
}

impl SqliteStore {
    fn load_live(&self, now: Now, machine: &mut Machine) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(&live())?;
        let mut rows = statement.query(params![BEGINNING_READ_CHARS])?;
        while let Some(row) = rows.next()? {
            match self.remembered(now, row) {
                Ok(remembered) => machine.remember(remembered.id, remembered.cue),
                // One question is out of service; everything else goes on.
                Err(Fault::Store(error @ StoreError::DamagedQuestion { .. })) => {
                    tracing::error!(%error, "left out");
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    fn find_id<T: FromStr>(&self, sql: &str, params: &[&dyn ToSql]) -> Result<Option<T>, StoreError> {
        self.find_one::<String>(sql, params)?.map(parse_id).transpose()
    }

    fn load_agents(&self, machine: &mut Machine) -> Result<(), Fault> {
        let sql = "SELECT agent_id, runtime, (SELECT max(seq) FROM cues WHERE cues.agent_id = agents.agent_id), archived, standing
             FROM agents";
        read_rows(&self.connection, sql, [], |row| live_agent(row, machine)).map(drop)
    }

    fn load_messages(&self, machine: &mut Machine) -> Result<(), Fault> {
        let sql =
            "SELECT request_id, text, said_at, purpose, said_by, agent_id FROM messages WHERE cue_id IS NULL
             ORDER BY ifnull(place, seq), seq";
        let remember = |row: &SqliteRow<'_>| {
            machine.remember_message(&row.id(MESSAGE_AGENT_ID)?, waiting_message(row)?);
            Ok(())
        };
        read_rows(&self.connection, sql, [], remember).map(drop)
    }

    /// Returns the messages that went into the decision of a question.
    pub(super) fn messages_in(&self, cue: CueId) -> Result<Vec<Message>, Fault> {
        let sql = "SELECT request_id, text, said_at, purpose, said_by FROM messages WHERE cue_id = ?1 ORDER BY ifnull(place, seq), seq";
        read_rows(&self.connection, sql, params![cue.as_str()], |row| {
            waiting_message(row)
        })
    }

    fn find(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, Fault> {
        let sql = format!("SELECT {COLUMNS} WHERE c.cue_id = ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![BEGINNING_READ_CHARS, cue.as_str()])?;
        rows.next()?.map(|row| self.remembered(now, row)).transpose()
    }

    /// Reads a question, with the messages in a decision that is held.
    fn remembered(&self, now: Now, row: &Row<'_>) -> Result<Remembered, Fault> {
        let mut remembered = live_question(&SqliteRow(row), now, 0)?;
        if let State::Held { taken, .. } = &mut remembered.cue.state {
            *taken = self.messages_in(remembered.id)?;
        }
        Ok(remembered)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Synchronous;

    #[test]
    fn a_start_reads_what_is_live_and_not_the_past() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let store = SqliteStore::open(&path, Synchronous::Full, true).unwrap();
        let mut statement = store
            .connection
            .prepare(&format!("EXPLAIN QUERY PLAN {}", live()))
            .unwrap();
        let plan: Vec<String> = statement
            .query_map(params![BEGINNING_READ_CHARS], |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(plan[0].contains("cues_live"), "{plan:?}");
    }
}
