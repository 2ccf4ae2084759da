//! Loads the state that the machine keeps in memory: everything live, and single settled questions on demand.

use cueme_rules::{Known, LEFT_OPEN, Machine, Message, Now, State};
use cueme_store::rows::{live_agent, live_question, waiting_message};
use cueme_store::{Code, Loads, PlainQuestion, Remembered, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::outcome::Kind;
use protocol_spec::payload::Payload;
use tokio_postgres::Row;
use tokio_postgres::types::FromSqlOwned;

use crate::fault::Fault;
use crate::reader::PostgresRow;
use crate::statements::{Param, Step, params};
use crate::store::PostgresStore;
use crate::text::Text;
use crate::transactions::head_of;

/// The column after those of [`live_question`]: the number of clients that wait at other brokers.
const CUE_ELSEWHERE: usize = 23;
/// The columns after those of [`waiting_message`]: the agent that the message waits for, and the question it went into.
const MESSAGE_AGENT_ID: usize = 5;
const MESSAGE_CUE_ID: usize = 6;

/// The columns of [`live_question`] and one more; `$1` is this broker, `$2` the time by its clock. The beginning of a prompt is found in its first 2000
/// characters.
macro_rules! cues_where {
    ($condition:literal) => {
        concat!(
            "SELECT c.seq, c.cue_id, c.agent_id, c.kind, c.content, c.outcome, c.delivery, c.handed_at,
                 substr(q.prompt, 1, 2000), q.payload IS NOT NULL, c.asked_at,
                 d.request_id, d.text, d.reminder, d.answer, d.redacted_answer, d.decided_by, d.decided_at,
                 CASE WHEN d.released_at IS NOT NULL THEN coalesce(
                     $2::bigint + (extract(epoch FROM d.release_at - clock_timestamp()) * 1000)::bigint, d.released_at) END,
                 c.origin, d.seal, d.redacted_text, c.detached_at,
                 (SELECT count(*) FROM waits w WHERE w.cue_id = c.cue_id AND w.broker <> $1)
             FROM cues c JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq) WHERE ",
            $condition
        )
    };
}

macro_rules! agents_where {
    ($condition:literal) => {
        concat!(
            "SELECT agent_id, runtime, (SELECT max(seq) FROM cues WHERE cues.agent_id = agents.agent_id), archived, standing
             FROM agents WHERE ",
            $condition
        )
    };
}

macro_rules! messages_where {
    ($condition:literal) => {
        concat!(
            "SELECT request_id, text, said_at, purpose, said_by, agent_id, cue_id FROM messages WHERE ",
            $condition,
            " ORDER BY coalesce(place, seq), seq"
        )
    };
}

impl Loads for PostgresStore {
    fn load(&self, now: Now) -> Result<Machine, StoreError> {
        let me = self.shared.broker.id;
        let steps = vec![
            Step::Prepared(agents_where!("true"), params![]),
            Step::Prepared(messages_where!("cue_id IS NULL"), params![]),
            Step::Prepared(
                cues_where!("c.delivery < 2 ORDER BY c.seq"),
                params![me, now.wall.as_millis()],
            ),
            Step::Prepared(
                messages_where!("cue_id IN (SELECT cue_id FROM cues WHERE delivery < 2)"),
                params![],
            ),
        ];
        if self.is_in_transaction() {
            return self.load_by(now, steps);
        }
        let begun = self.send(vec![
            Step::Plain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Step::Prepared("SELECT identity, revision, event, records FROM head", params![]),
        ])?;
        let head = head_of(begun.get(1))?;
        let loaded = self.load_by(now, steps);
        self.send(vec![Step::Plain("COMMIT")])?;
        self.seen.set(head.revision);
        loaded
    }

    fn load_agents(&self, now: Now, agents: &[AgentId]) -> Result<Machine, StoreError> {
        let agents: Vec<String> = agents.iter().map(|agent| agent.as_str().to_owned()).collect();
        let me = self.shared.broker.id;
        self.load_by(
            now,
            vec![
                Step::Prepared(agents_where!("agent_id = ANY($1)"), params![agents.clone()]),
                Step::Prepared(
                    messages_where!("cue_id IS NULL AND agent_id = ANY($1)"),
                    params![agents.clone()],
                ),
                Step::Prepared(
                    cues_where!("c.delivery < 2 AND c.agent_id = ANY($3) ORDER BY c.seq"),
                    params![me, now.wall.as_millis(), agents.clone()],
                ),
                Step::Prepared(
                    messages_where!(
                        "cue_id IN (SELECT cue_id FROM cues WHERE delivery < 2 AND agent_id = ANY($1))"
                    ),
                    params![agents],
                ),
            ],
        )
    }

    fn cue(&self, now: Now, cue: CueId) -> Result<Option<Remembered>, StoreError> {
        let me = self.shared.broker.id;
        let row = self.query_one(
            cues_where!("c.cue_id = $3"),
            params![me, now.wall.as_millis(), cue.as_str()],
        )?;
        let Some(mut found) = row.map(|row| remembered(now, &row)).transpose()? else {
            return Ok(None);
        };
        if let State::Held { taken, .. } = &mut found.cue.state {
            *taken = self.messages_in(cue)?;
        }
        Ok(Some(found))
    }

    fn cue_of_request(&self, request: RequestId) -> Result<Option<CueId>, StoreError> {
        if let Some(found) = self.look_ups.borrow().request(request) {
            return Ok(found);
        }
        self.find_id(
            "SELECT cue_id FROM cues WHERE seq = (SELECT seq FROM requests WHERE request_id = $1)",
            params![request.0],
        )
    }

    fn plain_question(&self, cue: CueId) -> Result<Option<PlainQuestion>, StoreError> {
        let row = self.query_one(
            "SELECT c.kind, q.payload FROM cues c JOIN questions q USING (seq) WHERE c.cue_id = $1",
            params![cue.as_str()],
        )?;
        let Some(row) = row else { return Ok(None) };
        let payload = value::<Option<Text>>(&row, 1)?;
        let payload = payload
            .map(|payload| Payload::parse(&payload.0))
            .transpose()
            .map_err(|error| StoreError::DamagedQuestion {
                cue: cue.to_string(),
                what: error.to_string(),
            })?;
        Ok(Some(PlainQuestion {
            kind: Kind::from_number(value(&row, 0)?)?,
            payload,
        }))
    }

    fn agent_of_session(&self, runtime: &RuntimeTag, session: &str) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM agents WHERE runtime = $1 AND session = $2",
            params![runtime.as_str(), session],
        )
    }

    fn agent_of_cue(&self, cue: CueId) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM cues WHERE cue_id = $1",
            params![cue.as_str()],
        )
    }

    fn agent_of_message(&self, message: RequestId) -> Result<Option<AgentId>, StoreError> {
        self.find_id(
            "SELECT agent_id FROM messages WHERE request_id = $1",
            params![message.0],
        )
    }

    fn past_cue(&self, request: RequestId) -> Result<Known, StoreError> {
        let found = self.query_one(
            "SELECT c.cue_id, coalesce(d.request_id = $2, false) FROM requests r JOIN cues c USING (seq)
             LEFT JOIN decisions d USING (seq) WHERE r.request_id = $1",
            params![request.0, LEFT_OPEN.0],
        )?;
        let Some(row) = found else { return Ok(Known::No) };
        Ok(match value(&row, 1)? {
            true => Known::LeftOpen(parse_id(value(&row, 0)?)?),
            false => Known::Whole,
        })
    }
}

impl PostgresStore {
    /// Loads by statements that find agents, waiting messages, live questions, and messages in their decisions.
    fn load_by(&self, now: Now, steps: Vec<Step>) -> Result<Machine, StoreError> {
        let found = self.send_after_queue(steps)?;
        let [agents, messages, cues, taken] = &found[..] else {
            return Ok(Machine::default());
        };
        let mut machine = Machine::default();
        for row in &agents.rows {
            live_agent(&PostgresRow(row), &mut machine)?;
        }
        for row in &messages.rows {
            machine.remember_message(&parse_id(value(row, MESSAGE_AGENT_ID)?)?, message(row)?);
        }
        for row in &cues.rows {
            match remembered(now, row) {
                Ok(mut found) => {
                    if let State::Held { taken: kept, .. } = &mut found.cue.state {
                        *kept = messages_of(found.id, &taken.rows)?;
                    }
                    machine.remember(found.id, found.cue);
                }
                // One question is out of service; everything else goes on.
                Err(error @ StoreError::DamagedQuestion { .. }) => tracing::error!(%error, "left out"),
                Err(error) => return Err(error),
            }
        }
        Ok(machine)
    }

    /// Returns the messages that went into the decision of a question.
    pub(crate) fn messages_in(&self, cue: CueId) -> Result<Vec<Message>, StoreError> {
        let rows = self.query(messages_where!("cue_id = $1"), params![cue.as_str()])?;
        rows.iter().map(message).collect()
    }

    fn find_id<T: std::str::FromStr>(
        &self,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<T>, StoreError> {
        self.find_one::<String>(sql, params)?.map(parse_id).transpose()
    }
}

fn messages_of(cue: CueId, rows: &[Row]) -> Result<Vec<Message>, StoreError> {
    let mut messages = Vec::new();
    for row in rows {
        if value::<Option<String>>(row, MESSAGE_CUE_ID)?.as_deref() == Some(cue.as_str()) {
            messages.push(message(row)?);
        }
    }
    Ok(messages)
}

/// Reads a value of a row.
fn value<T: FromSqlOwned>(row: &Row, column: usize) -> Result<T, StoreError> {
    Ok(row.try_get(column).map_err(Fault::from)?)
}

/// Reads a question, without the messages in a decision that is held.
fn remembered(now: Now, row: &Row) -> Result<Remembered, StoreError> {
    let elsewhere = u32::try_from(value::<i64>(row, CUE_ELSEWHERE)?).unwrap_or(u32::MAX);
    Ok(live_question(&PostgresRow(row), now, elsewhere)?)
}

fn message(row: &Row) -> Result<Message, StoreError> {
    Ok(waiting_message(&PostgresRow(row))?)
}
