//! Full-text search in what was asked and told.

use cueme_store::StoreError;
use cueme_store::search::Place;
use deadpool_postgres::Transaction;
use protocol_spec::id::AgentId;

use super::row::Columns;
use super::{Fault, PostgresReader};
use crate::lexemes::TextQuery;

/// How many texts are checked at once, at least.
const CHECKED_MIN: u32 = 64;
/// Common words and rare ones are found in different ways, so a query is planned for its words.
const PLAN: &str = "SET LOCAL plan_cache_mode = force_custom_plan";

/// Which places are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Only this agent's.
    pub(super) agent: Option<&'a AgentId>,
    /// Only those before this number.
    pub(super) before: i64,
    /// How many at most.
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
        // A question and its answer are two places; together at most twice as many places as questions are wanted.
        let wanted = Wanted {
            agent,
            before: before.unwrap_or(i64::MAX),
            limit: limit.saturating_mul(2),
        };
        let mut found: Vec<i64> = self
            .places_of(&query, wanted)?
            .iter()
            .map(|place| place.seq)
            .collect();
        found.dedup();
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Finds the places that a query means, newest first.
    pub(super) fn places_of(&self, query: &TextQuery, wanted: Wanted<'_>) -> Result<Vec<Place>, StoreError> {
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
                let places = candidates(transaction, query, wanted.agent, from, page).await?;
                let is_last = places.len() < page as usize;
                if let Some(last) = places.last() {
                    from = (last.seq, i16::from(last.is_told));
                }
                found.extend(match query.is_exact() {
                    true => places,
                    false => fitting(transaction, query, places).await?,
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

/// Returns what PostgreSQL finds before a place.
async fn candidates(
    transaction: &Transaction<'_>,
    query: &TextQuery,
    agent: Option<&AgentId>,
    before: (i64, i16),
    limit: u32,
) -> Result<Vec<Place>, Fault> {
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
            Ok(Place {
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
    places: Vec<Place>,
) -> Result<Vec<Place>, Fault> {
    let statement = transaction.prepare_cached(crate::index::TEXT).await?;
    let mut fitting = Vec::new();
    for place in places {
        let side = i16::from(place.is_told);
        let row = transaction.query_opt(&statement, &[&place.seq, &side]).await?;
        if let Some(text) = row.map(|row| row.maybe_text(0)).transpose()?.flatten()
            && query.fits(&text)
        {
            fitting.push(place);
        }
    }
    Ok(fitting)
}
