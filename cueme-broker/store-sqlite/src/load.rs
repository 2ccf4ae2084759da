//! Loads the state that the machine keeps in memory: everything live, and single settled questions on demand.

use std::str::FromStr;
use std::sync::Arc;

use cueme_store::{Code, Loads, PlainQuestion, Remembered, Sealed, StoreError, parse_answer, parse_id};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, Row, ToSql, params};
use uuid::Uuid;

use super::SqliteStore;
use super::fault::Fault;
use super::reader::read_rows;
use cueme_rules::{
    ContentKey, Cue, Decision, HOLD_MS_MAX, Known, LEFT_OPEN, Machine, Message, Now, Rounds, State,
    beginning_of,
};

/// The characters of a prompt that are read to find its beginning.
const BEGINNING_READ_CHARS: u32 = 2000;

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
        let mut statement = self.connection.prepare_cached(
            "SELECT agent_id, runtime, (SELECT max(seq) FROM cues WHERE cues.agent_id = agents.agent_id), archived, standing
             FROM agents",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let newest: Option<i64> = row.get(2)?;
            let agent: AgentId = parse_id(row.get(0)?)?;
            machine.remember_agent(
                agent.clone(),
                parse_id(row.get(1)?)?,
                ordinal(newest.unwrap_or(0)),
            );
            let standing: Option<String> = row.get(4)?;
            machine.remember_wishes(&agent, row.get(3)?, standing.map(Arc::from));
        }
        Ok(())
    }

    fn load_messages(&self, machine: &mut Machine) -> Result<(), Fault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT request_id, text, said_at, purpose, said_by, agent_id FROM messages WHERE cue_id IS NULL
             ORDER BY ifnull(place, seq), seq",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            machine.remember_message(&parse_id(row.get(5)?)?, message(row)?);
        }
        Ok(())
    }

    /// Returns the messages that went into the decision of a question.
    pub(super) fn messages_in(&self, cue: CueId) -> Result<Vec<Message>, Fault> {
        let sql = "SELECT request_id, text, said_at, purpose, said_by FROM messages WHERE cue_id = ?1 ORDER BY ifnull(place, seq), seq";
        read_rows(&self.connection, sql, params![cue.as_str()], message)
    }

    fn find(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, Fault> {
        let sql = format!("SELECT {COLUMNS} WHERE c.cue_id = ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![BEGINNING_READ_CHARS, cue.as_str()])?;
        rows.next()?.map(|row| self.remembered(now, row)).transpose()
    }

    /// Reads a question; an invalid value in its row affects that question alone.
    fn remembered(&self, now: Now, row: &Row<'_>) -> Result<Remembered, Fault> {
        let id: CueId = parse_id(row.get(1)?)?;
        self.read_row(now, id, row).map_err(|fault| match fault {
            _ if fault.is_of_one_value() => Fault::Store(StoreError::DamagedQuestion {
                cue: id.to_string(),
                what: StoreError::from(fault).to_string(),
            }),
            other => other,
        })
    }

    fn read_row(&self, now: Now, id: CueId, row: &Row<'_>) -> Result<Remembered, Fault> {
        let seq: i64 = row.get(0)?;
        let prompt: String = row.get(8)?;
        Self::check_seal(id, row)?;
        let mut state = state(now, row)?;
        if let State::Held { taken, .. } = &mut state {
            *taken = self.messages_in(id)?;
        }
        let detached_at = row.get::<_, Option<i64>>(22)?.map(Timestamp::from_millis);
        let cue = Cue {
            agent: parse_id(row.get(2)?)?,
            kind: Kind::from_number(row.get(3)?)?,
            origin: Origin::from_number(row.get(19)?)?,
            has_payload: row.get(9)?,
            content: ContentKey(row.get(4)?),
            question: beginning_of(&prompt).into(),
            ordinal: ordinal(seq),
            asked_at: Timestamp::from_millis(row.get(10)?),
            state,
            here: 0,
            elsewhere: 0,
            detached: Some((now.steady, detached_at.unwrap_or(now.wall))),
            rounds: Rounds::default(),
        };
        Ok(Remembered { id, cue })
    }

    /// Refuses a decision whose checksum does not match.
    fn check_seal(cue: CueId, row: &Row<'_>) -> Result<(), Fault> {
        let Some(seal) = row.get::<_, Option<Vec<u8>>>(20)? else {
            return Ok(());
        };
        let (text, reminder, answer): (String, Option<String>, Option<String>) =
            (row.get(12)?, row.get(13)?, row.get(14)?);
        let sealed = Sealed {
            cue,
            outcome: row.get(5)?,
            text: &text,
            reminder: reminder.as_deref(),
            answer: answer.as_deref(),
        };
        if sealed.seal() == *seal {
            return Ok(());
        }
        Err(Fault::Store(StoreError::DamagedQuestion {
            cue: cue.to_string(),
            what: "what was decided is not what was written".into(),
        }))
    }
}

/// Returns a question's ordinal among its agent's questions; imported ones come before all others.
fn ordinal(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}

fn state(now: Now, row: &Row<'_>) -> Result<State, Fault> {
    let outcome = Outcome::from_number(row.get(5)?)?;
    match outcome {
        Outcome::Open => return Ok(State::Open),
        Outcome::Superseded => return Ok(State::Superseded),
        Outcome::Answered | Outcome::Declined | Outcome::Cancelled => {}
    }
    let decision = Decision {
        request: RequestId(Uuid::from_bytes(row.get(11)?)),
        outcome,
        text: row.get::<_, String>(12)?.into(),
        reminder: row.get::<_, Option<String>>(13)?.map(Arc::from),
        answer: parse_answer(row.get::<_, Option<String>>(14)?.as_deref())?,
        redacted: redacted(row)?,
        by: row.get(16)?,
        decided_at: Timestamp::from_millis(row.get(17)?),
    };
    let handed_at = row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis);
    let released_at = row.get::<_, Option<i64>>(18)?.map(Timestamp::from_millis);
    Ok(match (Delivery::from_number(row.get(6)?)?, released_at) {
        (Delivery::Acknowledged, _) => State::Settled {
            handed_at: handed_at.unwrap_or(decision.decided_at),
            decision,
        },
        (Delivery::None | Delivery::Handed, Some(released_at)) => State::Held {
            decision,
            // After the clock was set back, it must not be held longer than the longest hold.
            until: now
                .steady
                .saturating_add(released_at.millis_since(now.wall).min(HOLD_MS_MAX)),
            released_at,
            taken: Vec::new(),
        },
        (Delivery::None | Delivery::Handed, None) => State::Decided { decision, handed_at },
    })
}

/// Returns text and answer without their secrets, where they hold any that were not erased.
fn redacted(row: &Row<'_>) -> Result<Option<Arc<(String, Answer)>>, Fault> {
    let Some(text) = row.get::<_, Option<String>>(21)? else {
        return Ok(None);
    };
    let answer = parse_answer(row.get::<_, Option<String>>(15)?.as_deref())?;
    Ok(Some(Arc::new((
        text,
        answer.map(|answer| Answer::clone(&answer)).unwrap_or_default(),
    ))))
}

fn message(row: &Row<'_>) -> Result<Message, Fault> {
    Ok(Message {
        request: RequestId(Uuid::from_bytes(row.get(0)?)),
        text: row.get::<_, String>(1)?.into(),
        said_at: Timestamp::from_millis(row.get(2)?),
        purpose: Purpose::from_number(row.get(3)?)?,
        by: row.get(4)?,
    })
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
