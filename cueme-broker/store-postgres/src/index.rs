//! Full-text indexing, behind the commits.

use cueme_store::search::INDEX_BATCH_BYTES;
use futures_util::future::try_join_all;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::fault::Fault;
use crate::lexemes::lexemes;
use crate::reader::Columns;

/// The text of a question (side 0) or of what was answered (side 1), as far as it is indexed.
pub(crate) const TEXT: &str = "SELECT CASE $2::smallint
        WHEN 0 THEN left(q.prompt, 100000) || ' ' || left(coalesce(q.payload, ''), 100000)
        ELSE left(coalesce(d.redacted_text, d.text), 100000) END
    FROM questions q LEFT JOIN decisions d USING (seq) WHERE q.seq = $1";

/// What is not indexed yet, oldest first, and which decision it is.
const UNINDEXED: &str = "SELECT u.seq, u.side, d.request_id, CASE u.side
        WHEN 0 THEN left(q.prompt, 100000) || ' ' || left(coalesce(q.payload, ''), 100000)
        ELSE left(coalesce(d.redacted_text, d.text), 100000) END
    FROM (SELECT seq, side FROM unindexed ORDER BY seq, side LIMIT $1) u
        JOIN questions q USING (seq) LEFT JOIN decisions d USING (seq) ORDER BY u.seq, u.side";

/// Indexes one text, unless somebody else has, or another decision has taken its place. A decision that was removed has none.
const INDEX: &str = "WITH taken AS (
        DELETE FROM unindexed u WHERE u.seq = $1 AND u.side = $2 AND (u.side = 0
            OR (SELECT d.request_id FROM decisions d WHERE d.seq = u.seq) IS NOT DISTINCT FROM $3::uuid)
        RETURNING u.seq, u.side)
    INSERT INTO words (seq, side, words) SELECT seq, side, array_to_tsvector($4::text[]) FROM taken
        WHERE side = 0 OR $3 IS NOT NULL
    ON CONFLICT (seq, side) DO UPDATE SET words = excluded.words";

/// A text that is to be indexed.
struct Unindexed {
    seq: i64,
    side: i16,
    decision: Option<Uuid>,
    lexemes: Vec<String>,
}

/// Indexes up to `limit` texts in a transaction of its own; returns whether there may be more.
///
/// The texts are read and split before the transaction begins: it locks the head like all others, and is short.
pub(crate) async fn index_batch(client: &Client, limit: u32) -> Result<bool, Fault> {
    let (texts, has_more) = unindexed(client, limit).await?;
    if texts.is_empty() {
        return Ok(false);
    }
    // What is lost with an asynchronous commit is indexed again: the list of what is not indexed is lost with it.
    client
        .batch_execute("BEGIN; SET LOCAL synchronous_commit = off; SELECT 1 FROM head FOR UPDATE")
        .await?;
    let indexed = async {
        let statement = client.prepare(INDEX).await?;
        let inserts = texts.iter().map(|text| {
            let statement = &statement;
            async move {
                client
                    .execute(statement, &[&text.seq, &text.side, &text.decision, &text.lexemes])
                    .await
            }
        });
        try_join_all(inserts).await?;
        client.batch_execute("COMMIT").await
    };
    match indexed.await {
        Ok(()) => Ok(has_more),
        Err(error) => {
            // If even this fails the connection is replaced by its owner, which undoes the transaction, too.
            let _ = client.batch_execute("ROLLBACK").await;
            Err(error.into())
        }
    }
}

async fn unindexed(client: &Client, limit: u32) -> Result<(Vec<Unindexed>, bool), Fault> {
    let rows = client.query(UNINDEXED, &[&i64::from(limit)]).await?;
    let mut bytes = 0;
    let mut texts = Vec::new();
    for row in &rows {
        let text = row.maybe_text(3)?.unwrap_or_default();
        texts.push(Unindexed {
            seq: row.value(0)?,
            side: row.value(1)?,
            decision: row.value(2)?,
            lexemes: lexemes(&text),
        });
        bytes += text.len();
        if bytes >= INDEX_BATCH_BYTES {
            return Ok((texts, true));
        }
    }
    Ok((texts, rows.len() == limit as usize))
}
