//! Full-text search in questions and answers.

use cueme_store::StoreError;
use cueme_store::search::Occurrence;
use deadpool_postgres::Transaction;
use protocol_spec::id::AgentId;

use super::row::Columns;
use super::{Fault, PostgresReader};
use crate::lexemes::TextQuery;

/// The least number of texts that are checked at once.
const CHECKED_MIN: u32 = 64;
/// PostgreSQL finds common and rare words in different ways, so each query is planned for its words.
const PLAN: &str = "SET LOCAL plan_cache_mode = force_custom_plan";

/// A filter for occurrences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Only this agent's.
    pub(super) agent: Option<&'a AgentId>,
    /// Only those before this number.
    pub(super) before: i64,
    /// The maximum number of occurrences.
    pub(super) limit: u32,
}

impl PostgresReader {
    /// Finds the sequence numbers of questions in which all words occur, newest first.
    pub(super) fn find_all(
        &self,
        text: &str,
        agent: Option<&AgentId>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let Some(query) = TextQuery::of_all(text) else {
            return Ok(Vec::new());
        };
        // A question and its answer are two occurrences; together at most twice as many occurrences as questions are wanted.
        let wanted = Wanted {
            agent,
            before: before.unwrap_or(i64::MAX),
            limit: limit.saturating_mul(2),
        };
        let mut found: Vec<i64> = self
            .occurrences_of(&query, wanted)?
            .iter()
            .map(|occurrence| occurrence.seq)
            .collect();
        found.dedup();
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Finds the occurrences that match a query, newest first.
    pub(super) fn occurrences_of(
        &self,
        query: &TextQuery,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Occurrence>, StoreError> {
        self.read_snapshot(async |transaction| {
            transaction.batch_execute(PLAN).await?;
            let mut found = Vec::new();
            let mut from = (wanted.before, 0);
            loop {
                let missing = wanted.limit.saturating_sub(found.len() as u32);
                let page = match query.is_exact() {
                    true => missing,
                    false => missing.max(CHECKED_MIN),
                };
                let occurrences = candidates(transaction, query, wanted.agent, from, page).await?;
                let is_last = occurrences.len() < page as usize;
                if let Some(last) = occurrences.last() {
                    from = (last.seq, i16::from(last.is_told));
                }
                found.extend(match query.is_exact() {
                    true => occurrences,
                    false => fitting(transaction, query, occurrences).await?,
                });
                if is_last || found.len() >= wanted.limit as usize {
                    break;
                }
            }
            found.truncate(wanted.limit as usize);
            Ok(found)
        })
    }
}

/// Returns the matches of PostgreSQL before a occurrence.
async fn candidates(
    transaction: &Transaction<'_>,
    query: &TextQuery,
    agent: Option<&AgentId>,
    before: (i64, i16),
    limit: u32,
) -> Result<Vec<Occurrence>, Fault> {
    let statement = transaction
        .prepare_cached(
            "SELECT w.seq, w.side = 1, c.agent_id FROM words w JOIN cues c USING (seq)
             WHERE w.words @@ $1::text::tsquery AND (w.seq, w.side) < ($2, $3)
                 AND ($4::text IS NULL OR c.agent_id = $4)
             ORDER BY w.seq DESC, w.side DESC LIMIT $5",
        )
        .await?;
    let rows = transaction
        .query(
            &statement,
            &[
                &query.tsquery,
                &before.0,
                &before.1,
                &agent.map(AgentId::as_str),
                &i64::from(limit),
            ],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Occurrence {
                seq: row.value(0)?,
                is_told: row.value(1)?,
                agent: row.text(2)?,
            })
        })
        .collect()
}

/// Keeps those whose text has the phrases.
async fn fitting(
    transaction: &Transaction<'_>,
    query: &TextQuery,
    occurrences: Vec<Occurrence>,
) -> Result<Vec<Occurrence>, Fault> {
    let statement = transaction.prepare_cached(crate::index::TEXT).await?;
    let mut fitting = Vec::new();
    for occurrence in occurrences {
        let side = i16::from(occurrence.is_told);
        let row = transaction
            .query_opt(&statement, &[&occurrence.seq, &side])
            .await?;
        if let Some(text) = row.map(|row| row.maybe_text(0)).transpose()?.flatten()
            && query.fits(&text)
        {
            fitting.push(occurrence);
        }
    }
    Ok(fitting)
}
