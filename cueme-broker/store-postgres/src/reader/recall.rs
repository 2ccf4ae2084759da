//! The index as a recall reads it.

use cueme_store::StoreError;
use cueme_store::search::{AgentFacts, Form, Occurrence, WordIndex};
use tokio_postgres::Row;

use super::row::Columns;
use super::search::Wanted;
use super::{Fault, PostgresReader};
use crate::lexemes::TextQuery;

/// The most occurrences of a word that are ranked, the newest first.
const RANKED_HITS_MAX: u32 = 250;

/// Each call takes a connection of its own: between two calls the recall runs other code, which may read, too.
impl WordIndex for PostgresReader {
    type Error = StoreError;

    fn agents(&self) -> Result<Vec<AgentFacts>, StoreError> {
        let rows = self.rows(
            "SELECT a.agent_id, a.runtime, a.project_dir, coalesce(a.name, '') FROM agents a
             ORDER BY a.seen_at DESC, (SELECT max(seq) FROM cues c WHERE c.agent_id = a.agent_id) DESC NULLS LAST, a.agent_id",
            &[],
        )?;
        Ok(rows.iter().map(facts).collect::<Result<_, _>>()?)
    }

    fn occurrences(&self, word: &str, form: Form) -> Result<Vec<Occurrence>, StoreError> {
        let query = match form {
            Form::Whole => TextQuery::of_whole(word),
            Form::Stem => Some(TextQuery::of_stem(word)),
            Form::Beginning => TextQuery::of_beginning(word),
        };
        let newest = Wanted {
            agent: None,
            before: i64::MAX,
            limit: RANKED_HITS_MAX,
        };
        query.map_or(Ok(Vec::new()), |query| self.occurrences_of(&query, newest))
    }

    fn prompt_beginning(&self, seq: i64) -> Result<String, StoreError> {
        let row = self.row("SELECT left(prompt, 200) FROM questions WHERE seq = $1", &[&seq])?;
        Ok(row.map(|row| row.text(0)).transpose()?.unwrap_or_default())
    }
}

fn facts(row: &Row) -> Result<AgentFacts, Fault> {
    Ok(AgentFacts {
        id: row.id(0)?,
        runtime: row.text(1)?,
        project: row.text(2)?,
        name: row.text(3)?,
    })
}
