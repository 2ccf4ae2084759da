//! The full-text index, as `cueme recall` reads it.

use cueme_store::parse_id;
use cueme_store::search::{AgentFacts, Form, Occurrence, WordIndex, other_forms_of, stem};
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::reader::read_rows;
use super::vocabulary::words_beginning;
use super::words::{beginning, whole};

/// The most occurrences of a word that are ranked, the newest first.
const OCCURRENCES_MAX: u32 = 250;
/// The most words with the same stem that are looked up.
const STEMS_MAX: usize = 64;

/// The index, on one connection.
#[derive(Debug)]
pub(super) struct SqliteIndex<'a>(pub(super) &'a Connection);

impl WordIndex for SqliteIndex<'_> {
    type Error = Fault;

    fn agents(&self) -> Result<Vec<AgentFacts>, Fault> {
        let sql = "SELECT agent_id, runtime, project_dir, ifnull(name, '') FROM agents ORDER BY seen_at DESC,
               (SELECT max(seq) FROM cues WHERE cues.agent_id = agents.agent_id) DESC, agent_id";
        read_rows(self.0, sql, [], |row| {
            Ok(AgentFacts {
                id: parse_id(row.get(0)?)?,
                runtime: row.get(1)?,
                project: row.get(2)?,
                name: row.get(3)?,
            })
        })
    }

    fn occurrences(&self, word: &str, form: Form) -> Result<Vec<Occurrence>, Fault> {
        let query = match form {
            Form::Whole => whole(word),
            Form::Beginning => beginning(self.0, word)?,
            Form::Stem => match self.other_forms(word)? {
                Some(forms) => forms,
                None => return Ok(Vec::new()),
            },
        };
        let mut statement = self
            .0
            .prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
        let mut whose = self
            .0
            .prepare_cached("SELECT agent_id FROM cues WHERE seq = ?1")?;
        let mut rows = statement.query(params![query, OCCURRENCES_MAX])?;
        let mut occurrences = Vec::new();
        while let Some(row) = rows.next()? {
            let row: i64 = row.get(0)?;
            let (seq, is_told) = (row >> 1, row & 1 == 1);
            let agent: Option<String> = whose.query_row(params![seq], |row| row.get(0)).optional()?;
            occurrences.extend(agent.map(|agent| Occurrence { seq, is_told, agent }));
        }
        Ok(occurrences)
    }

    fn prompt_beginning(&self, seq: i64) -> Result<String, Fault> {
        Ok(self
            .0
            .prepare_cached("SELECT substr(prompt, 1, 200) FROM questions WHERE seq = ?1")?
            .query_row(params![seq], |row| row.get(0))?)
    }
}

impl SqliteIndex<'_> {
    /// Builds a query for the other words of the index with the same stem, if there are any.
    fn other_forms(&self, word: &str) -> Result<Option<String>, Fault> {
        let stem = stem(word);
        let common = word.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
        let Some(words) = words_beginning(self.0, &word[..common], STEMS_MAX)? else {
            return Ok(None);
        };
        let forms: Vec<String> = other_forms_of(word, &words).into_iter().map(whole).collect();
        Ok((!forms.is_empty()).then(|| forms.join(" OR ")))
    }
}
