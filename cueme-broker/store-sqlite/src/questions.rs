//! Questions, past and present, as humans read them.

use std::borrow::Cow;

use cueme_store::search::recall;
use cueme_store::{Code, HistoryQuery, QuestionReads, Recollection, StoreError, parse_answer, parse_id};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{AgentView, CueView, EventKind, EventView, Match, Receipt};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::fault::Fault;
use super::reader::{SqliteReader, read_rows};
use super::recall::SqliteIndex;
use super::seal::is_whole;
use super::search;

/// The most agents that a recall names.
const RECALLED_MAX: usize = 5;
/// The most agents of a project whose answers are read.
const PROJECT_AGENTS_MAX: u32 = 50;

const CUE_COLUMNS: &str = "c.cue_id, c.seq, c.agent_id, a.runtime, a.project_dir, c.kind, c.origin, q.prompt, q.payload,
    c.outcome, c.delivery, c.asked_at, d.decided_at, d.released_at, c.acknowledged_at, d.decided_by,
    ifnull(d.redacted_text, d.text), ifnull(d.redacted_answer, d.answer),
    ifnull(d.from_queue, 0), d.seal, d.text, d.reminder, d.answer,
    EXISTS (SELECT 1 FROM runs r WHERE r.agent_id = c.agent_id AND r.ending IS NULL)
    FROM cues c JOIN agents a USING (agent_id) JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

const AGENT_COLUMNS: &str =
    "a.agent_id, a.runtime, a.project_dir, a.terminal, a.name, a.joined_at, a.seen_at,
    (SELECT count(*) FROM cues c INDEXED BY cues_open WHERE c.outcome = 0 AND c.agent_id = a.agent_id),
    (SELECT count(*) FROM messages m WHERE m.agent_id = a.agent_id AND m.cue_id IS NULL),
    a.archived
    FROM agents a";

impl QuestionReads for SqliteReader {
    fn inbox(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError> {
        self.with(|connection| {
            let open = sequences(
                connection,
                "SELECT seq FROM cues WHERE delivery < 2 ORDER BY seq",
                params![],
            )?;
            visit_cues(connection, &open, &mut |cue| {
                let is_shown = cue.outcome == Outcome::Open || cue.damaged;
                !is_shown || visit(cue)
            })
        })
    }

    fn unseen(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError> {
        self.with(|connection| {
            let automatic = sequences(
                connection,
                "SELECT c.seq FROM agents a CROSS JOIN cues c INDEXED BY cues_automatic
                 WHERE c.agent_id = a.agent_id AND c.automatic = 1 AND c.seq > a.read_seq ORDER BY c.seq",
                params![],
            )?;
            visit_cues(connection, &automatic, &mut |cue| !cue.from_queue || visit(cue))
        })
    }

    fn cues_with_prefix(&self, prefix: &str) -> Result<Vec<CueId>, StoreError> {
        self.ids_with_prefix(
            "SELECT cue_id FROM cues WHERE cue_id >= ?1 AND cue_id < ?2 LIMIT 2",
            prefix,
        )
    }

    fn agents_with_prefix(&self, prefix: &str) -> Result<Vec<AgentId>, StoreError> {
        self.ids_with_prefix(
            "SELECT agent_id FROM agents WHERE agent_id >= ?1 AND agent_id < ?2 LIMIT 2",
            prefix,
        )
    }

    fn cue(&self, cue: CueId) -> Result<Option<CueView>, StoreError> {
        self.with(|connection| find_cue(connection, "c.cue_id = ?1", &cue.as_str()))
    }

    fn payload(&self, cue: CueId) -> Result<Option<Option<String>>, StoreError> {
        self.with(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT q.payload FROM cues c JOIN questions q USING (seq) WHERE c.cue_id = ?1",
                )?
                .query_row(params![cue.as_str()], |row| row.get(0))
                .optional()?;
            Ok(found)
        })
    }

    fn last_answered(&self, agent: &AgentId) -> Result<Option<CueView>, StoreError> {
        self.row(
            &format!(
                "SELECT {CUE_COLUMNS} WHERE c.agent_id = ?1 AND c.outcome = ?2 AND d.released_at IS NULL
                 ORDER BY d.decided_at DESC, c.seq DESC LIMIT 1"
            ),
            params![agent.as_str(), Outcome::Answered.number()],
            cue_view,
        )
    }

    fn history(
        &self,
        query: &HistoryQuery,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<bool, StoreError> {
        self.with(|connection| {
            let wanted = query.limit.saturating_add(1);
            let agent = query.agent.as_ref();
            let mut found = match &query.search {
                Some(text) => search::find_all(connection, text, agent, query.before, wanted)?,
                None => {
                    let condition = if agent.is_some() {
                        "agent_id = ?1"
                    } else {
                        "?1 IS NULL"
                    };
                    let sql = format!(
                        "SELECT seq FROM cues WHERE {condition} AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
                    );
                    let before = query.before.unwrap_or(i64::MAX);
                    sequences(
                        connection,
                        &sql,
                        params![agent.map(AgentId::as_str), before, wanted],
                    )?
                }
            };
            let has_more = found.len() > query.limit as usize;
            found.truncate(query.limit as usize);
            visit_cues(connection, &found, visit)?;
            Ok(has_more)
        })
    }

    fn answered_in_project(
        &self,
        project_dir: &str,
        limit: u32,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<(), StoreError> {
        self.with(|connection| {
            let of_project = "SELECT agent_id FROM agents WHERE project_dir = ?1 ORDER BY seen_at DESC LIMIT ?2";
            let params = params![project_dir, PROJECT_AGENTS_MAX];
            let agents = read_rows(connection, of_project, params, |row| Ok(row.get::<_, String>(0)?))?;
            // An agent's questions are read by their index, so that a project with many of them costs no more than one with few.
            let newest = "SELECT seq FROM cues INDEXED BY cues_of_agent WHERE agent_id = ?1 AND outcome = ?2 ORDER BY seq DESC LIMIT ?3";
            let mut found = Vec::new();
            for agent in &agents {
                found.extend(sequences(connection, newest, params![agent, Outcome::Answered.number(), limit])?);
            }
            found.sort_unstable_by(|one, other| other.cmp(one));
            found.truncate(limit as usize);
            visit_cues(connection, &found, visit)
        })
    }

    fn agents(&self, visit: &mut dyn FnMut(AgentView) -> bool) -> Result<(), StoreError> {
        let sql = format!("SELECT {AGENT_COLUMNS} ORDER BY a.seen_at DESC, a.agent_id");
        for agent in self.rows(&sql, [], agent_view)? {
            if !visit(agent) {
                break;
            }
        }
        Ok(())
    }

    fn recall(&self, hints: &str, project_dir: Option<&str>) -> Result<Recollection, StoreError> {
        self.recall_among(hints, project_dir, &|_| Ok(true))
    }

    fn recall_among(
        &self,
        hints: &str,
        project_dir: Option<&str>,
        is_wanted: &dyn Fn(&AgentId) -> Result<bool, StoreError>,
    ) -> Result<Recollection, StoreError> {
        self.with(|connection| {
            let (found, is_clear) = recall(&SqliteIndex(connection), hints, project_dir, is_wanted)?;
            let mut statement =
                connection.prepare_cached(&format!("SELECT {AGENT_COLUMNS} WHERE a.agent_id = ?1"))?;
            let mut matches = Vec::with_capacity(RECALLED_MAX);
            for recalled in found.into_iter().take(RECALLED_MAX) {
                let mut rows = statement.query(params![recalled.agent.as_str()])?;
                if let Some(row) = rows.next()? {
                    matches.push(Match {
                        agent: agent_view(row)?,
                        why: recalled.why,
                    });
                }
            }
            Ok(Recollection { matches, is_clear })
        })
    }

    fn receipts(&self, nonce: &str) -> Result<Vec<Receipt>, StoreError> {
        self.rows(
            "SELECT c.cue_id, c.agent_id, c.kind, c.outcome, r.acknowledged_at,
                     ifnull(d.redacted_answer, d.answer) ->> '$.ends_run'
                 FROM receipts r JOIN cues c USING (cue_id) LEFT JOIN decisions d USING (seq)
                 WHERE r.nonce = ?1 ORDER BY r.rowid",
            params![nonce],
            |row| {
                Ok(Receipt {
                    cue_id: parse_id(row.get(0)?)?,
                    agent_id: parse_id(row.get(1)?)?,
                    kind: Kind::from_number(row.get(2)?)?,
                    outcome: Outcome::from_number(row.get(3)?)?,
                    acknowledged_at: Timestamp::from_millis(row.get(4)?),
                    ends_run: row.get::<_, Option<bool>>(5)?.unwrap_or_default(),
                })
            },
        )
    }

    fn events_after(&self, id: i64, limit: u32) -> Result<Vec<EventView>, StoreError> {
        self.rows(
            "SELECT id, at, what, agent_id, cue_id FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
            params![id, limit],
            |row| {
                Ok(EventView {
                    id: Some(row.get(0)?),
                    at: Timestamp::from_millis(row.get(1)?),
                    what: EventKind::from_number(row.get(2)?)?,
                    agent_id: parse_id(row.get(3)?)?,
                    cue_id: row.get::<_, Option<String>>(4)?.map(parse_id).transpose()?,
                })
            },
        )
    }

    fn newest_event(&self) -> Result<i64, StoreError> {
        self.with(|connection| {
            let newest: Option<i64> = connection
                .query_row("SELECT max(id) FROM events", [], |row| row.get(0))
                .optional()?
                .flatten();
            Ok(newest.unwrap_or(0))
        })
    }
}

impl SqliteReader {
    fn ids_with_prefix<T: std::str::FromStr>(&self, sql: &str, prefix: &str) -> Result<Vec<T>, StoreError> {
        // '~' sorts after every character that an id can have.
        let end = format!("{prefix}~");
        self.rows(sql, params![prefix, end], |row| Ok(parse_id(row.get(0)?)?))
    }
}

/// Returns the sequence numbers a query finds.
fn sequences(connection: &Connection, sql: &str, with: impl rusqlite::Params) -> Result<Vec<i64>, Fault> {
    read_rows(connection, sql, with, |row| Ok(row.get(0)?))
}

/// Visits questions one by one.
///
/// No read is open while the visitor has a question: a visitor may be slow, and an open read keeps old pages in the
/// log, including secrets that were erased since.
fn visit_cues(
    connection: &Connection,
    sequences: &[i64],
    visit: &mut dyn FnMut(CueView) -> bool,
) -> Result<(), Fault> {
    for seq in sequences {
        if find_cue(connection, "c.seq = ?1", seq)?.is_some_and(|cue| !visit(cue)) {
            break;
        }
    }
    Ok(())
}

/// Finds a question. Where the row of its decision cannot be read, it is found without one, and shown as damaged.
pub(super) fn find_cue(
    connection: &Connection,
    condition: &str,
    key: &dyn rusqlite::ToSql,
) -> Result<Option<CueView>, Fault> {
    let find = |sql: &str| -> Result<Option<CueView>, Fault> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![key])?;
        rows.next()?.map(cue_view).transpose()
    };
    let sql = format!("SELECT {CUE_COLUMNS} WHERE {condition}");
    match find(&sql) {
        Err(fault) if fault.is_of_one_row() => find(&without_decisions(&sql)),
        found => found,
    }
}

/// Returns a query about questions that reads no decision: each looks as if its decision were gone.
pub(super) fn without_decisions(sql: &str) -> String {
    sql.replace(
        "LEFT JOIN decisions d ",
        "LEFT JOIN (SELECT * FROM decisions WHERE false) d ",
    )
}

/// The decision about a question, as it is shown.
#[derive(Debug, Default)]
struct DecisionView {
    decided_at: Option<Timestamp>,
    released_at: Option<Timestamp>,
    by: Option<String>,
    from_queue: bool,
    text: Option<String>,
    answer: Option<Answer>,
}

/// Returns a question as it is shown. A decision that cannot be read, or has a wrong checksum, is left out.
///
/// A damaged question does not hide the others: it is shown as far as it can be read, and marked as damaged.
fn cue_view(row: &Row<'_>) -> Result<CueView, Fault> {
    let decision = if is_whole(row, 9, 19) {
        match decision_view(row) {
            Ok(decision) => Some(decision),
            Err(error) if error.is_of_one_value() => None,
            Err(error) => return Err(error),
        }
    } else {
        None
    };
    let (prompt, is_prompt_whole) = readable(row, 7)?;
    let payload: Option<Option<String>> = row.get(8).ok();
    let payload = payload.and_then(|payload| payload.map(RawValue::from_string).transpose().ok());
    let outcome = Outcome::from_number(row.get(9)?)?;
    let is_question_whole = is_prompt_whole && payload.is_some();
    let damaged = decision.is_none() || (outcome.is_answerable() && !is_question_whole);
    let decision = decision.unwrap_or_default();
    Ok(CueView {
        cue_id: parse_id(row.get(0)?)?,
        seq: row.get(1)?,
        agent_id: parse_id(row.get(2)?)?,
        agent_runtime: parse_id(row.get(3)?)?,
        project_dir: row.get(4)?,
        kind: Kind::from_number(row.get(5)?)?,
        origin: Origin::from_number(row.get(6)?)?,
        prompt,
        payload: payload.flatten(),
        outcome,
        delivery: Delivery::from_number(row.get(10)?)?,
        asked_at: Timestamp::from_millis(row.get(11)?),
        waiting: 0,
        detached_at: None,
        decided_at: decision.decided_at,
        released_at: decision.released_at,
        acknowledged_at: time(row, 14)?,
        by: decision.by,
        from_queue: decision.from_queue,
        damaged,
        in_run: row.get(23)?,
        text: decision.text,
        answer: decision.answer,
        ends_run: false,
    })
}

/// Reads a text as far as it can be read, and says whether that is all of it.
pub(super) fn readable(row: &Row<'_>, column: usize) -> rusqlite::Result<(String, bool)> {
    let text = String::from_utf8_lossy(row.get_ref(column)?.as_bytes().unwrap_or_default());
    let is_whole = matches!(text, Cow::Borrowed(_));
    Ok((text.into_owned(), is_whole))
}

fn decision_view(row: &Row<'_>) -> Result<DecisionView, Fault> {
    let answer = parse_answer(row.get::<_, Option<String>>(17)?.as_deref())?;
    Ok(DecisionView {
        decided_at: time(row, 12)?,
        released_at: time(row, 13)?,
        by: row.get(15)?,
        from_queue: row.get(18)?,
        text: row.get(16)?,
        answer: answer.map(|answer| (*answer).clone()),
    })
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

fn agent_view(row: &Row<'_>) -> Result<AgentView, Fault> {
    Ok(AgentView {
        agent_id: parse_id(row.get(0)?)?,
        agent_runtime: parse_id(row.get(1)?)?,
        project_dir: row.get(2)?,
        agent_terminal: row.get(3)?,
        name: row.get(4)?,
        joined_at: Timestamp::from_millis(row.get(5)?),
        seen_at: Timestamp::from_millis(row.get(6)?),
        open_cues: row.get(7)?,
        waiting: 0,
        queued: row.get(8)?,
        archived: row.get(9)?,
    })
}
