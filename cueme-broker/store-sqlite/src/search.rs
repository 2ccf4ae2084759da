//! Full-text search in questions and answers; [`cueme_store::search`] splits texts into words.
//!
//! Indexing is deferred: the engine does it when it is idle, and before a search.

use cueme_store::StoreError;
use cueme_store::search::{INDEX_BATCH, INDEX_BATCH_BYTES, INDEXED_CHARS_MAX, segment};
use protocol_spec::id::AgentId;
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::fault::Fault;
use super::words::query;

impl SqliteStore {
    /// Indexes a batch of new texts; returns whether there may be more.
    pub(super) fn index_rows(&self) -> Result<bool, StoreError> {
        let questions = self.index_some_of(
            "questions_indexed",
            "SELECT seq, 2 * seq, substr(prompt, 1, ?3) || ' ' || substr(ifnull(payload, ''), 1, ?3) FROM questions
             WHERE seq > ?1 ORDER BY seq LIMIT ?2",
        )?;
        let decisions = self.index_some_of(
            "decisions_indexed",
            "SELECT id, 2 * seq + 1, substr(ifnull(redacted_text, text), 1, ?3) FROM decisions
             WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        Ok(questions || decisions)
    }

    /// Indexes a question before the mark, where [`index_some`](Self::index_some) does not look.
    pub(super) fn index_question(
        &self,
        seq: i64,
        prompt: &str,
        payload: Option<&str>,
    ) -> Result<(), StoreError> {
        let chars = INDEXED_CHARS_MAX as usize;
        let beginning = |text: &str| text.chars().take(chars).collect::<String>();
        let body = format!("{} {}", beginning(prompt), beginning(payload.unwrap_or_default()));
        self.run(
            "INSERT OR REPLACE INTO search (rowid, body) VALUES (?1, ?2)",
            params![2 * seq, segment(&body)],
        )
    }

    fn index_some_of(&self, mark: &str, sql: &str) -> Result<bool, Fault> {
        let from: i64 = self
            .connection
            .prepare_cached("SELECT value FROM marks WHERE name = ?1")?
            .query_row(params![mark], |row| row.get(0))?;
        let mut last = from;
        let (mut count, mut bytes) = (0, 0);
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO search (rowid, body) VALUES (?1, ?2)")?;
        let mut rows = statement.query(params![from, INDEX_BATCH, INDEXED_CHARS_MAX])?;
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            count += 1;
            let body: String = row.get(2)?;
            insert.execute(params![row.get::<_, i64>(1)?, segment(&body)])?;
            bytes += body.len();
            if bytes >= INDEX_BATCH_BYTES {
                break;
            }
        }
        if count > 0 {
            self.run("UPDATE marks SET value = ?2 WHERE name = ?1", params![mark, last])?;
        }
        Ok(count == INDEX_BATCH || bytes >= INDEX_BATCH_BYTES)
    }
}

/// Finds the sequence numbers of questions in which all words occur, newest first.
pub(super) fn find_all(
    connection: &Connection,
    text: &str,
    agent: Option<&AgentId>,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<i64>, Fault> {
    let Some(query) = query(connection, text)? else {
        return Ok(Vec::new());
    };
    // A question and its answer are two rows; together at most twice as many rows as questions are wanted.
    let mut statement = connection.prepare_cached(
        "SELECT search.rowid >> 1 FROM search JOIN cues ON cues.seq = search.rowid >> 1
         WHERE search MATCH ?1 AND search.rowid < ?2 AND (?3 IS NULL OR cues.agent_id = ?3)
         ORDER BY search.rowid DESC LIMIT ?4",
    )?;
    let before = before.map_or(i64::MAX, |seq| seq.saturating_mul(2));
    let mut rows = statement.query(params![
        query,
        before,
        agent.map(AgentId::as_str),
        limit.saturating_mul(2)
    ])?;
    let mut found: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        if found.last() != Some(&seq) {
            found.push(seq);
        }
    }
    found.truncate(limit as usize);
    Ok(found)
}
