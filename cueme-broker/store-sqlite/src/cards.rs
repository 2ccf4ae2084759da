//! Agents and questions as the inbox shows them: enough to choose from, without the long texts.

use cueme_rules::human_words;
use cueme_store::rows::{Columns, PayloadType, agent_row, cue_row, message_row};
use cueme_store::search::snippet;
use cueme_store::{AgentRow, CardReads, CueRow, MessageRow, Pending, StoreError};
use protocol_spec::id::{AgentId, CueId};
use rusqlite::{Connection, params};

use super::columns::SqliteRow;
use super::fault::Fault;
use super::questions::{find_cue, without_decisions};
use super::reader::{SqliteReader, read_rows};
use super::search;

/// The characters of a text that are read to show its beginning.
const BEGINNING_READ_CHARS: u32 = 400;

/// The column after those of [`cue_row`]: whether the payload can be read.
const PAYLOAD_IS_WHOLE: usize = 20;

/// The columns of [`agent_row`].
const AGENT: &str = "SELECT a.agent_id, a.runtime, a.project_dir, a.terminal, a.name, a.joined_at, a.seen_at,
    a.pinned, a.archived, a.standing,
    (SELECT count(*) FROM messages m WHERE m.agent_id = a.agent_id AND m.cue_id IS NULL),
    (SELECT count(*) FROM cues c INDEXED BY cues_open
         WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.outcome = 0)
    + (SELECT count(*) FROM cues c INDEXED BY cues_automatic
         WHERE c.agent_id = a.agent_id AND c.seq > a.read_seq AND c.automatic = 1),
    (SELECT CASE WHEN count(*) = count(r.ended_at) THEN max(r.ended_at) END FROM runs r WHERE r.agent_id = a.agent_id)
    FROM agents a";

/// The columns of [`cue_row`].
const CUE: &str = "SELECT c.cue_id, c.seq, c.agent_id, c.kind, c.origin, substr(q.prompt, 1, ?1),
    CASE WHEN json_valid(q.payload) THEN q.payload ->> '$.type' END,
    c.outcome, c.delivery, c.asked_at, d.decided_at, d.released_at, c.acknowledged_at, d.decided_by,
    ifnull(d.from_queue, 0),
    CASE WHEN c.delivery < 2 THEN d.seal END, d.text, d.reminder, d.answer, c.content,
    ifnull(json_valid(q.payload), 1)
    FROM cues c JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq)";

impl CardReads for SqliteReader {
    fn agent_rows(&self, agent: Option<&AgentId>) -> Result<Vec<AgentRow>, StoreError> {
        let (condition, key) = match agent {
            Some(agent) => ("WHERE a.agent_id = ?1", Some(agent.as_str())),
            None => ("WHERE ?1 IS NULL ORDER BY a.seen_at DESC, a.agent_id", None),
        };
        self.rows(&format!("{AGENT} {condition}"), params![key], |row| {
            agent_row(row)
        })
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
        self.rows(
            "SELECT request_id, text, said_at, purpose, said_by FROM messages
             WHERE agent_id = ?1 AND cue_id IS NULL ORDER BY ifnull(place, seq), seq",
            params![agent.as_str()],
            |row| message_row(row),
        )
    }
}

/// Returns questions. Where the row of a decision cannot be read, its question is damaged, and the others are whole.
fn cue_rows(
    connection: &Connection,
    condition: &str,
    key: &dyn rusqlite::ToSql,
) -> Result<Vec<CueRow>, Fault> {
    let read = |sql: &str, key: &dyn rusqlite::ToSql| {
        read_rows(connection, sql, params![BEGINNING_READ_CHARS, key], card)
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

fn card(row: &SqliteRow<'_>) -> Result<CueRow, Fault> {
    cue_row(row, |row, column| {
        Ok(PayloadType {
            name: row.maybe_text(column).unwrap_or_default(),
            is_whole: row.flag(PAYLOAD_IS_WHOLE)?,
        })
    })
}
