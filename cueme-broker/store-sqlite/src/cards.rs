//! Agents and questions as the inbox shows them: enough to choose from, without the long texts.

use cueme_rules::{ContentKey, human_words};
use cueme_store::search::snippet;
use cueme_store::{AgentRow, CardReads, Code, CueRow, MessageRow, Pending, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::Purpose;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::fault::Fault;
use super::questions::{find_cue, readable, without_decisions};
use super::reader::{SqliteReader, read_rows};
use super::seal::is_whole;
use super::search;

/// The characters of a text that are read to show its beginning.
const BEGINNING_READ_CHARS: u32 = 400;

const AGENT: &str = "SELECT a.agent_id, a.runtime, a.project_dir, a.terminal, a.name, a.joined_at, a.seen_at,
    a.pinned, a.archived, a.standing,
    (SELECT count(*) FROM messages m WHERE m.agent_id = a.agent_id AND m.cue_id IS NULL),
    (SELECT count(*) FROM cues c INDEXED BY cues_open
         WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.outcome = 0)
    + (SELECT count(*) FROM cues c INDEXED BY cues_automatic
         WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.automatic = 1),
    (SELECT CASE WHEN count(*) = count(r.ended_at) THEN max(r.ended_at) END FROM runs r WHERE r.agent_id = a.agent_id)
    FROM agents a";

const CUE: &str = "SELECT c.cue_id, c.seq, c.agent_id, c.kind, c.origin, substr(q.prompt, 1, ?1),
    CASE WHEN json_valid(q.payload) THEN q.payload ->> '$.type' END,
    c.outcome, c.delivery, c.asked_at, d.decided_at, d.released_at, c.acknowledged_at, d.decided_by,
    ifnull(d.from_queue, 0),
    CASE WHEN c.delivery < 2 THEN d.seal END, d.text, d.reminder, d.answer, ifnull(json_valid(q.payload), 1),
    c.content
    FROM cues c JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

impl CardReads for SqliteReader {
    fn agent_rows(&self, agent: Option<&AgentId>) -> Result<Vec<AgentRow>, StoreError> {
        let (condition, key) = match agent {
            Some(agent) => ("WHERE a.agent_id = ?1", Some(agent.as_str())),
            None => ("WHERE ?1 IS NULL ORDER BY a.seen_at DESC, a.agent_id", None),
        };
        self.rows(&format!("{AGENT} {condition}"), params![key], agent_row)
    }

    fn answerable(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError> {
        Ok(self.pending(agent)?.answerable)
    }

    fn pending(&self, agent: Option<&AgentId>) -> Result<Pending, StoreError> {
        let rows = self.with(|connection| {
            let mut rows = cue_rows(
                connection,
                "WHERE c.delivery < 2 AND (?2 IS NULL OR c.agent_id = ?2) ORDER BY c.outcome = 4, c.seq",
                &agent.map(AgentId::as_str),
            )?;
            // Of a decision, a row shows less than its agent would get.
            for row in rows.iter_mut().filter(|row| !row.outcome.is_answerable()) {
                row.damaged |= find_cue(connection, "c.seq = ?1", &row.seq)?.is_none_or(|cue| cue.damaged);
            }
            Ok(rows)
        })?;
        let (damaged, whole): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.damaged);
        let answerable = whole.into_iter().filter(|row| row.outcome.is_answerable());
        Ok(Pending {
            answerable: answerable.collect(),
            damaged,
        })
    }

    fn newest_of_agents(&self, agent: Option<&AgentId>) -> Result<Vec<CueRow>, StoreError> {
        self.with(|connection| {
            cue_rows(
                connection,
                "JOIN agents a ON a.agent_id = c.agent_id WHERE (?2 IS NULL OR a.agent_id = ?2)
                 AND c.seq = (SELECT max(seq) FROM cues n WHERE n.agent_id = a.agent_id)",
                &agent.map(AgentId::as_str),
            )
        })
    }

    fn cue_row(&self, cue: CueId) -> Result<Option<CueRow>, StoreError> {
        self.with(|connection| Ok(cue_rows(connection, "WHERE c.cue_id = ?2", &cue.as_str())?.pop()))
    }

    fn search_cues(
        &self,
        words: &str,
        agent: Option<&AgentId>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(CueRow, String)>, StoreError> {
        self.with(|connection| {
            let mut found = Vec::new();
            for seq in search::find_all(connection, words, agent, before, limit)? {
                if let Some(row) = cue_rows(connection, "WHERE c.seq = ?2", &seq)?.pop() {
                    let (prompt, text): (String, String) = connection
                        .prepare_cached(
                            "SELECT substr(q.prompt, 1, 100000), ifnull(ifnull(d.redacted_text, d.text), '')
                             FROM questions q LEFT JOIN decisions d USING (seq) WHERE q.seq = ?1",
                        )?
                        .query_row(params![seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    let said = human_words(&text, row.outcome);
                    found.push((row, snippet(&format!("{prompt}\n{said}"), words)));
                }
            }
            Ok(found)
        })
    }

    fn messages(&self, agent: &AgentId) -> Result<Vec<MessageRow>, StoreError> {
        self.rows("SELECT request_id, text, said_by, said_at, purpose FROM messages WHERE agent_id = ?1 AND cue_id IS NULL
                 ORDER BY ifnull(place, seq), seq", params![agent.as_str()], |row| { Ok(MessageRow {
                    request: RequestId(Uuid::from_bytes(row.get(0)?)),
                    text: row.get(1)?,
                    by: row.get(2)?,
                    at: Timestamp::from_millis(row.get(3)?),
                    purpose: Purpose::from_number(row.get(4)?)?,
                }) })
    }
}

/// Returns questions. Where the row of a decision cannot be read, its question is damaged, and the others are whole.
fn cue_rows(
    connection: &Connection,
    condition: &str,
    key: &dyn rusqlite::ToSql,
) -> Result<Vec<CueRow>, Fault> {
    let read = |sql: &str, key: &dyn rusqlite::ToSql| {
        read_rows(connection, sql, params![BEGINNING_READ_CHARS, key], cue_row)
    };
    let sql = format!("{CUE} {condition}");
    match read(&sql, key) {
        Err(fault) if fault.is_of_one_row() => {}
        rows => return rows,
    }
    let of_one = format!("{CUE} WHERE c.seq = ?2");
    let mut cues = Vec::new();
    for cue in read(&without_decisions(&sql), key)? {
        match read(&of_one, &cue.seq) {
            Ok(mut whole) => cues.append(&mut whole),
            Err(fault) if fault.is_of_one_row() => cues.push(cue),
            Err(fault) => return Err(fault),
        }
    }
    Ok(cues)
}

fn cue_row(row: &Row<'_>) -> Result<CueRow, Fault> {
    let time = |index| {
        row.get::<_, Option<i64>>(index)
            .map(|at| at.map(Timestamp::from_millis))
    };
    let by = row.get::<_, Option<String>>(13);
    let (prompt, is_prompt_whole) = readable(row, 5)?;
    let is_question_whole = is_prompt_whole && row.get(19)?;
    let outcome = Outcome::from_number(row.get(7)?)?;
    Ok(CueRow {
        damaged: (outcome.is_answerable() && !is_question_whole) || by.is_err() || !is_whole(row, 7, 15),
        cue_id: parse_id(row.get(0)?)?,
        seq: row.get(1)?,
        agent_id: parse_id(row.get(2)?)?,
        kind: Kind::from_number(row.get(3)?)?,
        origin: Origin::from_number(row.get(4)?)?,
        beginning: cueme_rules::beginning_of(&prompt),
        payload_type: row.get(6).unwrap_or_default(),
        outcome,
        delivery: Delivery::from_number(row.get(8)?)?,
        asked_at: Timestamp::from_millis(row.get(9)?),
        decided_at: time(10)?,
        released_at: time(11)?,
        acknowledged_at: time(12)?,
        by: by.unwrap_or_default(),
        from_queue: row.get(14)?,
        content: Some(ContentKey(row.get(20)?)),
    })
}

fn agent_row(row: &Row<'_>) -> Result<AgentRow, Fault> {
    Ok(AgentRow {
        agent_id: parse_id(row.get(0)?)?,
        runtime: parse_id(row.get(1)?)?,
        project_dir: row.get(2)?,
        terminal: row.get(3)?,
        name: row.get(4)?,
        joined_at: Timestamp::from_millis(row.get(5)?),
        seen_at: Timestamp::from_millis(row.get(6)?),
        pinned: row.get(7)?,
        archived: row.get(8)?,
        standing: row.get(9)?,
        queued: row.get(10)?,
        unread: row.get(11)?,
        ended_at: row.get::<_, Option<i64>>(12)?.map(Timestamp::from_millis),
    })
}
