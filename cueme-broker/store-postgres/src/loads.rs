//! Loads the state that the machine keeps in memory: everything live, and single settled questions on demand.

use std::sync::Arc;

use cueme_rules::{
    ContentKey, Cue, Decision, HOLD_MS_MAX, Known, LEFT_OPEN, Machine, Message, Now, Rounds, State,
    beginning_of,
};
use cueme_store::{Code, Loads, PlainQuestion, Remembered, Sealed, StoreError, parse_answer, parse_id};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId, RequestId, RuntimeTag};
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::FromSqlOwned;

use crate::fault::Fault;
use crate::statements::{Param, Step, params};
use crate::store::PostgresStore;
use crate::text::Text;
use crate::transactions::head_of;

/// The columns that are read of a question; `$1` is this broker, `$2` the time by its clock. The beginning of a prompt is found in its first 2000
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
            let agent: AgentId = parse_id(value(row, 0)?)?;
            let newest: Option<i64> = value(row, 2)?;
            machine.remember_agent(
                agent.clone(),
                parse_id(value(row, 1)?)?,
                ordinal(newest.unwrap_or(0)),
            );
            let standing: Option<Text> = value(row, 4)?;
            machine.remember_wishes(&agent, value(row, 3)?, standing.map(|text| Arc::from(text.0)));
        }
        for row in &messages.rows {
            machine.remember_message(&parse_id(value(row, 5)?)?, message(row)?);
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
        if value::<Option<String>>(row, 6)?.as_deref() == Some(cue.as_str()) {
            messages.push(message(row)?);
        }
    }
    Ok(messages)
}

/// Returns a question's ordinal among its agent's questions; imported ones come before all others.
fn ordinal(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}

/// Reads a value of a row.
fn value<T: FromSqlOwned>(row: &Row, column: usize) -> Result<T, StoreError> {
    Ok(row.try_get(column).map_err(Fault::from)?)
}

/// Reads a question; an invalid value in its row affects that question alone.
fn remembered(now: Now, row: &Row) -> Result<Remembered, StoreError> {
    let id: CueId = parse_id(value(row, 1)?)?;
    read_row(now, id, row).map_err(|error| match error {
        error @ StoreError::DamagedQuestion { .. } => error,
        other => StoreError::DamagedQuestion {
            cue: id.to_string(),
            what: other.to_string(),
        },
    })
}

fn read_row(now: Now, id: CueId, row: &Row) -> Result<Remembered, StoreError> {
    let seq: i64 = value(row, 0)?;
    let prompt: Text = value(row, 8)?;
    check_seal(id, row)?;
    let detached_at = value::<Option<i64>>(row, 22)?.map(Timestamp::from_millis);
    let elsewhere = u32::try_from(value::<i64>(row, 23)?).unwrap_or(u32::MAX);
    let content: Vec<u8> = value(row, 4)?;
    let cue = Cue {
        agent: parse_id(value(row, 2)?)?,
        kind: Kind::from_number(value(row, 3)?)?,
        origin: Origin::from_number(value(row, 19)?)?,
        has_payload: value(row, 9)?,
        content: ContentKey(content.try_into().map_err(|_| StoreError::BadValue {
            what: "a content's key",
            value: "of another length".into(),
        })?),
        question: beginning_of(&prompt.0).into(),
        ordinal: ordinal(seq),
        asked_at: Timestamp::from_millis(value(row, 10)?),
        state: state(now, row)?,
        here: 0,
        elsewhere,
        detached: (elsewhere == 0).then_some((now.steady, detached_at.unwrap_or(now.wall))),
        rounds: Rounds::default(),
    };
    Ok(Remembered { id, cue })
}

/// Refuses a decision whose checksum does not match.
fn check_seal(cue: CueId, row: &Row) -> Result<(), StoreError> {
    let Some(seal) = value::<Option<Vec<u8>>>(row, 20)? else {
        return Ok(());
    };
    let decided: Text = value(row, 12)?;
    let (reminder, answer): (Option<Text>, Option<Text>) = (value(row, 13)?, value(row, 14)?);
    let sealed = Sealed {
        cue,
        outcome: value(row, 5)?,
        text: &decided.0,
        reminder: reminder.as_ref().map(|text| text.0.as_str()),
        answer: answer.as_ref().map(|text| text.0.as_str()),
    };
    if sealed.seal() == *seal {
        return Ok(());
    }
    Err(StoreError::DamagedQuestion {
        cue: cue.to_string(),
        what: "what was decided is not what was written".into(),
    })
}

fn state(now: Now, row: &Row) -> Result<State, StoreError> {
    let outcome = Outcome::from_number(value(row, 5)?)?;
    match outcome {
        Outcome::Open => return Ok(State::Open),
        Outcome::Superseded => return Ok(State::Superseded),
        Outcome::Answered | Outcome::Declined | Outcome::Cancelled => {}
    }
    let decision = Decision {
        request: RequestId(value(row, 11)?),
        outcome,
        text: value::<Text>(row, 12)?.0.into(),
        reminder: value::<Option<Text>>(row, 13)?.map(|text| Arc::from(text.0)),
        answer: parse_answer(
            value::<Option<Text>>(row, 14)?
                .as_ref()
                .map(|text| text.0.as_str()),
        )?,
        redacted: redacted(row)?,
        by: value::<Option<Text>>(row, 16)?.map(|text| text.0),
        decided_at: Timestamp::from_millis(value(row, 17)?),
    };
    let handed_at = value::<Option<i64>>(row, 7)?.map(Timestamp::from_millis);
    let released_at = value::<Option<i64>>(row, 18)?.map(Timestamp::from_millis);
    Ok(match (Delivery::from_number(value(row, 6)?)?, released_at) {
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
fn redacted(row: &Row) -> Result<Option<Arc<(String, Answer)>>, StoreError> {
    let Some(without) = value::<Option<Text>>(row, 21)? else {
        return Ok(None);
    };
    let answer = parse_answer(
        value::<Option<Text>>(row, 15)?
            .as_ref()
            .map(|text| text.0.as_str()),
    )?;
    Ok(Some(Arc::new((
        without.0,
        answer.map(|answer| Answer::clone(&answer)).unwrap_or_default(),
    ))))
}

fn message(row: &Row) -> Result<Message, StoreError> {
    Ok(Message {
        request: RequestId(value(row, 0)?),
        text: value::<Text>(row, 1)?.0.into(),
        said_at: Timestamp::from_millis(value(row, 2)?),
        purpose: Purpose::from_number(value(row, 3)?)?,
        by: value::<Option<Text>>(row, 4)?.map(|text| text.0),
    })
}
