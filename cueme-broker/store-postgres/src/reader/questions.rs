//! Questions, past and present, as humans read them.

use cueme_store::search::recall;
use cueme_store::{Code, HistoryQuery, QuestionReads, Recollection, StoreError, parse_answer};
use protocol_spec::answer::Answer;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{AgentView, CueView, EventView, Match, Receipt};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;
use serde_json::value::RawValue;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::row::Columns;
use super::seal::is_whole;
use super::{Fault, PostgresReader};
use crate::text::encode;

/// The most agents that a recall names.
const RECALLED_MAX: usize = 5;
/// The most agents of a project whose answers are read.
const PROJECT_AGENTS_MAX: u32 = 50;
/// The most whole questions that are read at once.
const READ_AHEAD: usize = 16;

const CUE: &str = "SELECT c.cue_id, c.seq, c.agent_id, a.runtime, a.project_dir, c.kind, c.origin, q.prompt, q.payload,
    c.outcome, c.delivery, c.asked_at, d.decided_at, d.released_at, c.acknowledged_at, d.decided_by,
    coalesce(d.redacted_text, d.text), coalesce(d.redacted_answer, d.answer),
    coalesce(d.from_queue, false), d.seal, d.text, d.reminder, d.answer,
    EXISTS (SELECT 1 FROM runs r WHERE r.agent_id = c.agent_id AND r.ending IS NULL)
    FROM cues c JOIN agents a USING (agent_id) JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

const AGENT: &str = "SELECT a.agent_id, a.runtime, a.project_dir, a.terminal, a.name, a.joined_at, a.seen_at,
    (SELECT count(*) FROM cues c WHERE c.outcome = 0 AND c.agent_id = a.agent_id),
    (SELECT count(*) FROM messages m WHERE m.agent_id = a.agent_id AND m.cue_id IS NULL),
    a.archived
    FROM agents a";

impl QuestionReads for PostgresReader {
    fn inbox(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError> {
        let live = self.sequences("SELECT seq FROM cues WHERE delivery < 2 ORDER BY seq", &[])?;
        self.visit_cues(&live, &mut |cue| {
            let is_shown = cue.outcome == Outcome::Open || cue.damaged;
            !is_shown || visit(cue)
        })
    }

    fn unseen(&self, visit: &mut dyn FnMut(CueView) -> bool) -> Result<(), StoreError> {
        let unseen = self.sequences(
            "SELECT c.seq FROM agents a JOIN cues c USING (agent_id) JOIN decisions d USING (seq)
             WHERE c.automatic AND c.seq > a.read_seq AND d.from_queue ORDER BY c.seq",
            &[],
        )?;
        self.visit_cues(&unseen, visit)
    }

    fn cues_with_prefix(&self, prefix: &str) -> Result<Vec<CueId>, StoreError> {
        self.ids_with_prefix(
            "SELECT cue_id FROM cues WHERE cue_id ~>=~ $1 AND cue_id ~<~ $2 ORDER BY cue_id USING ~<~ LIMIT 2",
            prefix,
        )
    }

    fn agents_with_prefix(&self, prefix: &str) -> Result<Vec<AgentId>, StoreError> {
        self.ids_with_prefix(
            "SELECT agent_id FROM agents WHERE agent_id ~>=~ $1 AND agent_id ~<~ $2 ORDER BY agent_id USING ~<~ LIMIT 2",
            prefix,
        )
    }

    fn cue(&self, cue: CueId) -> Result<Option<CueView>, StoreError> {
        let row = self.row(&format!("{CUE} WHERE c.cue_id = $1"), &[&cue.as_str()])?;
        Ok(row.as_ref().map(cue_view).transpose()?)
    }

    fn payload(&self, cue: CueId) -> Result<Option<Option<String>>, StoreError> {
        let row = self.row(
            "SELECT q.payload FROM cues c JOIN questions q USING (seq) WHERE c.cue_id = $1",
            &[&cue.as_str()],
        )?;
        Ok(row.map(|row| row.maybe_text(0)).transpose()?)
    }

    fn last_answered(&self, agent: &AgentId) -> Result<Option<CueView>, StoreError> {
        let row = self.row(
            &format!(
                "{CUE} WHERE c.agent_id = $1 AND c.outcome = $2 AND d.released_at IS NULL
                 ORDER BY d.decided_at DESC, c.seq DESC LIMIT 1"
            ),
            &[&agent.as_str(), &Outcome::Answered.number()],
        )?;
        Ok(row.as_ref().map(cue_view).transpose()?)
    }

    fn history(
        &self,
        query: &HistoryQuery,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<bool, StoreError> {
        let wanted = query.limit.saturating_add(1);
        let agent = query.agent.as_ref();
        let mut found = match &query.search {
            Some(text) => self.find_all(text, agent, query.before, wanted)?,
            None => {
                let condition = match agent {
                    Some(_) => "agent_id = $1",
                    None => "$1::text IS NULL",
                };
                self.sequences(
                    &format!(
                        "SELECT seq FROM cues WHERE {condition} AND seq < $2 ORDER BY seq DESC LIMIT $3"
                    ),
                    &[
                        &agent.map(AgentId::as_str),
                        &query.before.unwrap_or(i64::MAX),
                        &i64::from(wanted),
                    ],
                )?
            }
        };
        let has_more = found.len() > query.limit as usize;
        found.truncate(query.limit as usize);
        self.visit_cues(&found, visit)?;
        Ok(has_more)
    }

    fn answered_in_project(
        &self,
        project_dir: &str,
        limit: u32,
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<(), StoreError> {
        // An agent's questions are read by their index, so that a project with many of them costs no more than one with few.
        let found = self.sequences(
            "SELECT c.seq FROM
                 (SELECT agent_id FROM agents WHERE project_dir = $1 ORDER BY seen_at DESC LIMIT $2) a
                 CROSS JOIN LATERAL (SELECT seq FROM cues WHERE agent_id = a.agent_id AND outcome = $3
                                     ORDER BY seq DESC LIMIT $4) c
             ORDER BY c.seq DESC LIMIT $4",
            &[
                &encode(project_dir),
                &i64::from(PROJECT_AGENTS_MAX),
                &Outcome::Answered.number(),
                &i64::from(limit),
            ],
        )?;
        self.visit_cues(&found, visit)
    }

    fn agents(&self, visit: &mut dyn FnMut(AgentView) -> bool) -> Result<(), StoreError> {
        let rows = self.rows(&format!("{AGENT} ORDER BY a.seen_at DESC, a.agent_id"), &[])?;
        for row in &rows {
            if !visit(agent_view(row)?) {
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
        let (found, is_clear) = recall(self, hints, project_dir, is_wanted)?;
        let mut matches = Vec::with_capacity(RECALLED_MAX);
        for recalled in found.into_iter().take(RECALLED_MAX) {
            let row = self.row(
                &format!("{AGENT} WHERE a.agent_id = $1"),
                &[&recalled.agent.as_str()],
            )?;
            if let Some(row) = row {
                matches.push(Match {
                    agent: agent_view(&row)?,
                    why: recalled.why,
                });
            }
        }
        Ok(Recollection { matches, is_clear })
    }

    fn receipts(&self, nonce: &str) -> Result<Vec<Receipt>, StoreError> {
        let rows = self.rows(
            "SELECT c.cue_id, c.agent_id, c.kind, c.outcome, r.acknowledged_at, coalesce(d.redacted_answer, d.answer)
             FROM receipts r JOIN cues c USING (cue_id) LEFT JOIN decisions d USING (seq)
             WHERE r.nonce = $1 ORDER BY r.acknowledged_at, c.seq",
            &[&encode(nonce)],
        )?;
        Ok(rows.iter().map(receipt).collect::<Result<_, _>>()?)
    }

    fn events_after(&self, id: i64, limit: u32) -> Result<Vec<EventView>, StoreError> {
        let rows = self.rows(
            "SELECT id, at, what, agent_id, cue_id FROM events WHERE id > $1 ORDER BY id LIMIT $2",
            &[&id, &i64::from(limit)],
        )?;
        Ok(rows.iter().map(event).collect::<Result<_, _>>()?)
    }

    fn newest_event(&self) -> Result<i64, StoreError> {
        let row = self.row("SELECT max(id) FROM events", &[])?;
        let newest: Option<i64> = row.map(|row| row.value(0)).transpose()?.flatten();
        Ok(newest.unwrap_or(0))
    }

    fn history_id(&self) -> Result<Option<String>, StoreError> {
        let row = self.row("SELECT left(identity::text, 8) FROM head", &[])?;
        Ok(row.map(|row| row.value(0)).transpose()?)
    }
}

impl PostgresReader {
    fn ids_with_prefix<T: std::str::FromStr>(&self, sql: &str, prefix: &str) -> Result<Vec<T>, StoreError> {
        // '~' sorts after every character that an id can have.
        let end = format!("{prefix}~");
        let rows = self.rows(sql, &[&encode(prefix), &encode(&end)])?;
        Ok(rows.iter().map(|row| row.id(0)).collect::<Result<_, _>>()?)
    }

    /// Returns the sequence numbers a query finds.
    fn sequences(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<i64>, StoreError> {
        let rows = self.rows(sql, with)?;
        Ok(rows.iter().map(|row| row.value(0)).collect::<Result<_, _>>()?)
    }

    /// Visits questions, read in batches.
    ///
    /// No connection is in use while the visitor has a question: a visitor may be slow, and may read by itself.
    fn visit_cues(
        &self,
        sequences: &[i64],
        visit: &mut dyn FnMut(CueView) -> bool,
    ) -> Result<(), StoreError> {
        for some in sequences.chunks(READ_AHEAD) {
            let sql = format!("{CUE} WHERE c.seq = ANY ($1) ORDER BY array_position($1, c.seq)");
            for row in self.rows(&sql, &[&some])? {
                if !visit(cue_view(&row)?) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
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
fn cue_view(row: &Row) -> Result<CueView, Fault> {
    let decision = match is_whole(row, 9, 19) {
        true => match decision_view(row) {
            Ok(decision) => Some(decision),
            Err(Fault::Store(StoreError::BadValue { .. })) => None,
            Err(error) => return Err(error),
        },
        false => None,
    };
    let payload = row.maybe_text(8)?.map(RawValue::from_string).transpose().ok();
    let outcome: Outcome = row.code(9)?;
    let damaged = decision.is_none() || (outcome.is_answerable() && payload.is_none());
    let decision = decision.unwrap_or_default();
    Ok(CueView {
        cue_id: row.id(0)?,
        seq: row.value(1)?,
        agent_id: row.id(2)?,
        agent_runtime: row.id(3)?,
        project_dir: row.text(4)?,
        kind: row.code(5)?,
        origin: row.code(6)?,
        prompt: row.text(7)?,
        payload: payload.flatten(),
        outcome,
        delivery: row.code(10)?,
        asked_at: row.time(11)?,
        waiting: 0,
        detached_at: None,
        decided_at: decision.decided_at,
        released_at: decision.released_at,
        acknowledged_at: row.maybe_time(14)?,
        by: decision.by,
        from_queue: decision.from_queue,
        damaged,
        in_run: row.value(23)?,
        text: decision.text,
        answer: decision.answer,
        ends_run: false,
    })
}

fn decision_view(row: &Row) -> Result<DecisionView, Fault> {
    let answer = parse_answer(row.maybe_text(17)?.as_deref())?;
    Ok(DecisionView {
        decided_at: row.maybe_time(12)?,
        released_at: row.maybe_time(13)?,
        by: row.maybe_text(15)?,
        from_queue: row.value(18)?,
        text: row.maybe_text(16)?,
        answer: answer.map(|answer| (*answer).clone()),
    })
}

fn agent_view(row: &Row) -> Result<AgentView, Fault> {
    Ok(AgentView {
        agent_id: row.id(0)?,
        agent_runtime: row.id(1)?,
        project_dir: row.text(2)?,
        agent_terminal: row.text(3)?,
        name: row.maybe_text(4)?,
        joined_at: row.time(5)?,
        seen_at: row.time(6)?,
        open_cues: row.count(7)?,
        waiting: 0,
        queued: row.count(8)?,
        archived: row.value(9)?,
    })
}

fn receipt(row: &Row) -> Result<Receipt, Fault> {
    // An answer that cannot be read ends no run.
    let answer = parse_answer(row.maybe_text(5)?.as_deref()).unwrap_or_default();
    Ok(Receipt {
        cue_id: row.id(0)?,
        agent_id: row.id(1)?,
        kind: row.code(2)?,
        outcome: row.code(3)?,
        acknowledged_at: row.time(4)?,
        ends_run: answer.is_some_and(|answer| answer.ends_run),
    })
}

fn event(row: &Row) -> Result<EventView, Fault> {
    Ok(EventView {
        id: Some(row.value(0)?),
        at: row.time(1)?,
        what: row.code(2)?,
        agent_id: row.id(3)?,
        cue_id: row.maybe_id(4)?,
    })
}
