//! Agents and questions as the inbox shows them: enough to choose from, without the long texts.

use std::collections::HashMap;

use cueme_rules::{ContentKey, human_words};
use cueme_store::search::snippet;
use cueme_store::{AgentRow, CardReads, CueRow, MessageRow, Pending, StoreError};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::outcome::Outcome;
use serde_json::value::RawValue;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::row::Columns;
use super::seal::is_whole;
use super::{Fault, PostgresReader};

const AGENT: &str = "SELECT a.agent_id, a.runtime, a.project_dir, a.terminal, a.name, a.joined_at, a.seen_at,
    a.pinned, a.archived, a.standing,
    (SELECT count(*) FROM messages m WHERE m.agent_id = a.agent_id AND m.cue_id IS NULL),
    (SELECT count(*) FROM cues c WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.outcome = 0)
    + (SELECT count(*) FROM cues c WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.automatic),
    (SELECT CASE WHEN count(*) = count(r.ended_at) THEN max(r.ended_at) END FROM runs r WHERE r.agent_id = a.agent_id)
    FROM agents a";

/// The part of a prompt that is read to show its beginning.
const CUE: &str = "SELECT c.cue_id, c.seq, c.agent_id, c.kind, c.origin, left(q.prompt, 400), q.payload,
    c.outcome, c.delivery, c.asked_at, d.decided_at, d.released_at, c.acknowledged_at, d.decided_by,
    coalesce(d.from_queue, false),
    CASE WHEN c.delivery < 2 THEN d.seal END, d.text, d.reminder, d.answer, c.content
    FROM cues c JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

/// The texts that are searched.
const TEXTS: &str = "SELECT q.seq, left(q.prompt, 100000), coalesce(d.redacted_text, d.text, '')
    FROM questions q LEFT JOIN decisions d USING (seq) WHERE q.seq = ANY ($1)";

impl CardReads for PostgresReader {
    fn agent_rows(&self, agent: Option<&AgentId>) -> Result<Vec<AgentRow>, StoreError> {
        let rows = match agent {
            Some(agent) => self.rows(&format!("{AGENT} WHERE a.agent_id = $1"), &[&agent.as_str()])?,
            None => self.rows(&format!("{AGENT} ORDER BY a.seen_at DESC, a.agent_id"), &[])?,
        };
        Ok(rows.iter().map(agent_row).collect::<Result<_, _>>()?)
    }

    fn answerable(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError> {
        Ok(self.pending(agent)?.answerable)
    }

    fn pending(&self, agent: Option<&AgentId>) -> Result<Pending, StoreError> {
        let rows = self.cue_rows(
            "WHERE c.delivery < 2 AND (c.outcome IN (0, 4) OR d.seal IS NOT NULL OR d.text IS NULL)
                 AND ($1::text IS NULL OR c.agent_id = $1) ORDER BY c.outcome = 4, c.seq",
            &agent.map(AgentId::as_str),
        )?;
        let (damaged, whole): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.damaged);
        let answerable = whole.into_iter().filter(|row| row.outcome.is_answerable());
        Ok(Pending {
            answerable: answerable.collect(),
            damaged,
        })
    }

    fn newest_of_agents(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError> {
        self.cue_rows(
            "WHERE c.seq IN (SELECT (SELECT max(n.seq) FROM cues n WHERE n.agent_id = a.agent_id)
                             FROM agents a WHERE $1::text IS NULL OR a.agent_id = $1)",
            &agent.map(AgentId::as_str),
        )
    }

    fn cue_row(&self, cue: CueId) -> Result<Option<CueRow>, StoreError> {
        Ok(self.cue_rows("WHERE c.cue_id = $1", &cue.as_str())?.pop())
    }

    fn search_cues(
        &self,
        words: &str,
        agent: Option<&AgentId>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(CueRow, String)>, StoreError> {
        let found = self.find_all(words, agent, before, limit)?;
        let cues = self.cue_rows("WHERE c.seq = ANY ($1) ORDER BY c.seq DESC", &found)?;
        let mut texts = HashMap::new();
        for row in self.rows(TEXTS, &[&found])? {
            texts.insert(row.value::<i64>(0)?, (row.text(1)?, row.text(2)?));
        }
        // A question that was deleted meanwhile is not found.
        let with_snippet = |cue: CueRow| {
            let (prompt, text) = texts.remove(&cue.seq)?;
            let said = human_words(&text, cue.outcome);
            Some((cue, snippet(&format!("{prompt}\n{said}"), words)))
        };
        Ok(cues.into_iter().filter_map(with_snippet).collect())
    }

    fn messages(&self, agent: &AgentId) -> Result<Vec<MessageRow>, StoreError> {
        let rows = self.rows(
            "SELECT request_id, text, said_by, said_at, purpose FROM messages WHERE agent_id = $1 AND cue_id IS NULL
             ORDER BY coalesce(place, seq), seq",
            &[&agent.as_str()],
        )?;
        Ok(rows.iter().map(message).collect::<Result<_, _>>()?)
    }
}

impl PostgresReader {
    fn cue_rows(&self, condition: &str, key: &(dyn ToSql + Sync)) -> Result<Vec<CueRow>, StoreError> {
        let rows = self.rows(&format!("{CUE} {condition}"), &[key])?;
        Ok(rows.iter().map(cue_row).collect::<Result<_, _>>()?)
    }
}

fn message(row: &Row) -> Result<MessageRow, Fault> {
    Ok(MessageRow {
        request: RequestId(row.value(0)?),
        text: row.text(1)?,
        by: row.maybe_text(2)?,
        at: row.time(3)?,
        purpose: row.code(4)?,
    })
}

fn cue_row(row: &Row) -> Result<CueRow, Fault> {
    let payload = row.maybe_text(6)?;
    let is_question_whole = payload.as_deref().is_none_or(is_json);
    let outcome: Outcome = row.code(7)?;
    Ok(CueRow {
        damaged: (outcome.is_answerable() && !is_question_whole) || !is_whole(row, 7, 15),
        cue_id: row.id(0)?,
        seq: row.value(1)?,
        agent_id: row.id(2)?,
        kind: row.code(3)?,
        origin: row.code(4)?,
        beginning: cueme_rules::beginning_of(&row.text(5)?),
        payload_type: payload.as_deref().and_then(type_of),
        outcome,
        delivery: row.code(8)?,
        asked_at: row.time(9)?,
        decided_at: row.maybe_time(10)?,
        released_at: row.maybe_time(11)?,
        acknowledged_at: row.maybe_time(12)?,
        by: row.maybe_text(13)?,
        from_queue: row.value(14)?,
        content: <[u8; 32]>::try_from(row.value::<&[u8]>(19)?).ok().map(ContentKey),
    })
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Returns the type that a payload names.
fn type_of(payload: &str) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(payload).ok()?;
    serde_json::from_str(fields.get("type")?.get()).ok()
}

fn agent_row(row: &Row) -> Result<AgentRow, Fault> {
    Ok(AgentRow {
        agent_id: row.id(0)?,
        runtime: row.id(1)?,
        project_dir: row.text(2)?,
        terminal: row.text(3)?,
        name: row.maybe_text(4)?,
        joined_at: row.time(5)?,
        seen_at: row.time(6)?,
        pinned: row.value(7)?,
        archived: row.value(8)?,
        standing: row.maybe_text(9)?,
        queued: row.count(10)?,
        unread: row.count(11)?,
        ended_at: row.maybe_time(12)?,
    })
}
