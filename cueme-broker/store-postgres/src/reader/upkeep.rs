//! Checks the database, and copies it into a file.

use std::path::Path;

use cueme_store::{CheckReport, StoreError, UpkeepReads};
use deadpool_postgres::Transaction;
use futures_util::TryStreamExt;

use super::row::Columns;
use super::seal::is_whole;
use super::{Fault, PostgresReader};
use crate::copy::CopyTransaction;

/// The most problems that a check lists.
const PROBLEMS_MAX: usize = 20;

/// Invalid rows, each with the message that counts them. The database itself checks foreign keys.
const CONTRADICTIONS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM cues c WHERE NOT EXISTS (SELECT 1 FROM questions q WHERE q.seq = c.seq)",
        "questions have no words",
    ),
    (
        "SELECT count(*) FROM cues c WHERE c.outcome IN (1, 2, 3)
             AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.seq = c.seq)",
        "decided questions have no decision",
    ),
    (
        "SELECT count(*) FROM events e, head h WHERE e.id > h.event",
        "events have numbers that were not given yet",
    ),
    (
        "SELECT count(*) FROM uploads u WHERE u.hash IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = u.hash)",
        "uploaded files have no contents",
    ),
    (
        "SELECT count(*) FROM blobs b WHERE sha256(b.bytes) <> b.hash",
        "files are not what was uploaded",
    ),
    (
        "SELECT count(*) FROM questions q WHERE NOT EXISTS (SELECT 1 FROM words w WHERE w.seq = q.seq AND w.side = 0)
             AND NOT EXISTS (SELECT 1 FROM unindexed u WHERE u.seq = q.seq AND u.side = 0)",
        "questions are missing in the index",
    ),
];

impl UpkeepReads for PostgresReader {
    fn check(&self) -> Result<CheckReport, StoreError> {
        let _turn = self.begin_long_read();
        self.read_snapshot(check)
    }

    fn back_up(&self, to: &Path) -> Result<CheckReport, StoreError> {
        if to.exists() {
            return Err(StoreError::Io {
                doing: "create",
                path: to.to_owned(),
                source: std::io::ErrorKind::AlreadyExists.into(),
            });
        }
        let _turn = self.begin_long_read();
        self.read(async |client| {
            let source = CopyTransaction::read(client).await.map_err(Fault::Store)?;
            (self.write_backup)(source, to).await.map_err(Fault::Store)
        })
    }
}

async fn check(transaction: &Transaction<'_>) -> Result<CheckReport, Fault> {
    // It reads everything.
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0")
        .await?;
    let mut problems = Vec::new();
    for (sql, what) in CONTRADICTIONS {
        let count: i64 = transaction.query_one(*sql, &[]).await?.value(0)?;
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    }
    problems.extend(damaged_questions(transaction).await?);
    let row = transaction
        .query_one(
            "SELECT (SELECT count(*) FROM cues), pg_database_size(current_database())",
            &[],
        )
        .await?;
    Ok(CheckReport {
        problems,
        schema: crate::SCHEMA,
        cues: row.count(0)?,
        bytes: row.count(1)?,
    })
}

/// Lists the questions whose decision has a wrong checksum.
async fn damaged_questions(transaction: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    const NONE: [&str; 0] = [];
    let rows = transaction
        .query_raw(
            "SELECT c.cue_id, c.outcome, d.seal, d.text, d.reminder, d.answer, c.delivery < 2
             FROM cues c LEFT JOIN decisions d USING (seq)
             WHERE d.seal IS NOT NULL OR (c.outcome NOT IN (0, 4) AND d.text IS NULL)",
            NONE,
        )
        .await?;
    let mut rows = std::pin::pin!(rows);
    let mut problems = Vec::new();
    while let Some(row) = rows.try_next().await? {
        if problems.len() == PROBLEMS_MAX || is_whole(&row, 1, 2) {
            continue;
        }
        let cue = row.text(0)?;
        let remedy = match row.value(6)? {
            true => format!("; `cueme cancel {cue}` closes it"),
            false => String::new(),
        };
        problems.push(format!(
            "question {cue} is out of service: what was decided about it is not what was written{remedy}"
        ));
    }
    Ok(problems)
}
