//! Full-text indexing, deferred until after the commits.

use cueme_store::StoreError;
use cueme_store::search::{INDEX_BATCH, INDEX_BATCH_BYTES};
use uuid::Uuid;

use crate::lexemes::lexemes;
use crate::reader::Columns;
use crate::statements::{Step, params};
use crate::store::PostgresStore;

/// The texts of a batch while many more wait, as after a move, and their bytes. Other brokers wait for a batch.
const BACKLOG_BATCH: u32 = 1000;
const BACKLOG_BATCH_BYTES: usize = 4 * INDEX_BATCH_BYTES;
/// Separates lexemes. No word has it.
const SEPARATOR: &str = "\u{1F}";

/// The text of a question (side 0) or of its answer (side 1), truncated to its indexed part.
pub(crate) const TEXT: &str = "SELECT CASE $2::smallint
        WHEN 0 THEN left(q.prompt, 100000) || ' ' || left(coalesce(q.payload, ''), 100000)
        ELSE left(coalesce(d.redacted_text, d.text), 100000) END
    FROM questions q LEFT JOIN decisions d USING (seq) WHERE q.seq = $1";

/// The texts that are not indexed yet, newest first, each with its decision: who searches before all are indexed finds the
/// newest.
const UNINDEXED: &str = "SELECT u.seq, u.side, d.request_id, CASE u.side
        WHEN 0 THEN left(q.prompt, 100000) || ' ' || left(coalesce(q.payload, ''), 100000)
        ELSE left(coalesce(d.redacted_text, d.text), 100000) END
    FROM (SELECT seq, side FROM unindexed ORDER BY seq DESC, side DESC LIMIT $1) u
        JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq) ORDER BY u.seq DESC, u.side DESC";

/// Indexes texts, except those that another indexer has, or whose decision was replaced. A removed decision has no text.
const INDEX: &str = "WITH taken AS (
        DELETE FROM unindexed u
        USING unnest($1::bigint[], $2::smallint[], $3::uuid[], $4::text[]) AS given (seq, side, decision, lexemes)
        WHERE u.seq = given.seq AND u.side = given.side AND (u.side = 0
            OR (SELECT d.request_id FROM decisions d WHERE d.seq = u.seq) IS NOT DISTINCT FROM given.decision)
        RETURNING u.seq, u.side, given.decision, given.lexemes)
    INSERT INTO words (seq, side, words) SELECT seq, side, array_to_tsvector(string_to_array(lexemes, E'\\x1F')) FROM taken
        WHERE side = 0 OR decision IS NOT NULL
    ON CONFLICT (seq, side) DO UPDATE SET words = excluded.words";

/// Texts to index, column by column.
#[derive(Default)]
struct Texts {
    sequences: Vec<i64>,
    sides: Vec<i16>,
    decisions: Vec<Option<Uuid>>,
    lexemes: Vec<String>,
}

impl PostgresStore {
    /// Indexes a batch of texts in a transaction of its own; returns whether there may be more.
    ///
    /// The texts are read and split before the transaction begins, and that is one round trip: it locks the head like all others.
    pub(crate) fn index_batch(&self) -> Result<bool, StoreError> {
        let (texts, has_more) = match self.has_backlog.get() {
            true => self.unindexed(BACKLOG_BATCH, BACKLOG_BATCH_BYTES)?,
            false => self.unindexed(INDEX_BATCH, INDEX_BATCH_BYTES)?,
        };
        self.has_backlog.set(has_more);
        if texts.sequences.is_empty() {
            return Ok(false);
        }
        self.send(vec![
            Step::Plain("BEGIN"),
            // An asynchronous commit may be lost. Then its texts are indexed again, because the list of unindexed texts is
            // restored, too.
            Step::Plain("SET LOCAL synchronous_commit = off"),
            Step::Plain("SELECT 1 FROM head FOR UPDATE"),
            Step::Prepared(
                INDEX,
                params![texts.sequences, texts.sides, texts.decisions, texts.lexemes],
            ),
            // Undoes it where a statement was refused.
            Step::Plain("COMMIT"),
        ])?;
        Ok(has_more)
    }

    fn unindexed(&self, limit: u32, bytes_max: usize) -> Result<(Texts, bool), StoreError> {
        let rows = self.query(UNINDEXED, params![i64::from(limit)])?;
        let mut bytes = 0;
        let mut texts = Texts::default();
        for row in &rows {
            let text = row.maybe_text(3)?.unwrap_or_default();
            texts.sequences.push(row.value(0)?);
            texts.sides.push(row.value(1)?);
            texts.decisions.push(row.value(2)?);
            texts.lexemes.push(lexemes(&text).join(SEPARATOR));
            bytes += text.len();
            if bytes >= bytes_max {
                return Ok((texts, true));
            }
        }
        Ok((texts, rows.len() == limit as usize))
    }
}
