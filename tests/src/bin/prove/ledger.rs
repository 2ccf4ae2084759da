//! R0, the judge: a record kept outside of the system under test of what it promised, and what it printed.
//!
//! Each entry is on disk before the test goes on, so that even a harness that dies leaves evidence. At the end the
//! record is held against the database and against itself:
//!
//! - I1 a question that was confirmed is there;
//! - I2 an answer that was accepted was printed;
//! - I3 all prints of a question are the same, and are what was accepted;
//! - I4 nothing is printed that nobody answered;
//! - I5 nothing is printed for another question;
//! - I6 the database is sound.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};

/// The record.
#[derive(Debug)]
pub(crate) struct Ledger {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// Questions the broker confirmed, with their words.
    acked: BTreeMap<String, String>,
    /// Answers that humans tried to give: the question of each text.
    offered: HashMap<String, String>,
    /// Answers that the broker said it accepted.
    accepted: BTreeMap<String, String>,
    /// Printed outcomes, each with the words of its question.
    printed: Vec<(String, String)>,
    /// The number of times that each question's words may have been asked anew.
    renewals: HashMap<String, usize>,
    problems: Vec<String>,
}

/// The sizes of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Confirmed questions.
    pub(crate) acked: usize,
    /// Accepted answers.
    pub(crate) accepted: usize,
    /// Prints.
    pub(crate) printed: usize,
}

impl Ledger {
    /// Begins a record in a file of its own.
    pub(crate) fn create(path: &Path) -> Self {
        let file = File::create(path).unwrap_or_else(|error| panic!("no ledger: {error}"));
        Self {
            inner: Mutex::new(Inner {
                file,
                acked: BTreeMap::new(),
                offered: HashMap::new(),
                accepted: BTreeMap::new(),
                printed: Vec::new(),
                renewals: HashMap::new(),
                problems: Vec::new(),
            }),
        }
    }

    /// The broker confirmed, or showed, a question with these words.
    pub(crate) fn acked(&self, cue: &str, words: &str) {
        let mut inner = self.inner();
        if inner.acked.contains_key(cue) {
            return;
        }
        inner.write(&["acked", cue, words]);
        inner.acked.insert(cue.to_owned(), words.to_owned());
    }

    /// A human is about to answer; whether it is taken is not known yet. No two texts are the same.
    pub(crate) fn offered(&self, cue: &str, text: &str) {
        let mut inner = self.inner();
        inner.write(&["offered", cue, text]);
        inner.offered.insert(text.to_owned(), cue.to_owned());
    }

    /// The broker said that it took this answer.
    pub(crate) fn accepted(&self, cue: &str, text: &str) {
        let mut inner = self.inner();
        inner.write(&["accepted", cue, text]);
        let before = inner.accepted.insert(cue.to_owned(), text.to_owned());
        if let Some(before) = before.filter(|before| before != text) {
            inner
                .problems
                .push(format!("I3: {cue} was decided twice: {before:?} and {text:?}"));
        }
    }

    /// An agent's call printed this for the question with these words.
    pub(crate) fn printed(&self, words: &str, text: &str) {
        let mut inner = self.inner();
        inner.write(&["printed", words, text]);
        inner.printed.push((words.to_owned(), text.to_owned()));
    }

    /// Expects that these words, asked again, may be a new question, because their answer may have been acknowledged.
    pub(crate) fn may_renew(&self, words: &str) {
        *self.inner().renewals.entry(words.to_owned()).or_default() += 1;
    }

    /// Returns how much there is.
    pub(crate) fn totals(&self) -> Totals {
        let inner = self.inner();
        Totals {
            acked: inner.acked.len(),
            accepted: inner.accepted.len(),
            printed: inner.printed.len(),
        }
    }

    /// Holds the record against itself and against the database of a broker that has ended.
    pub(crate) fn judge(&self, database: &Path) -> Vec<String> {
        let inner = self.inner();
        let mut problems = inner.problems.clone();
        inner.judge_prints(&mut problems);
        if let Err(error) = inner.judge_database(database, &mut problems) {
            problems.push(format!("I6: the database cannot be read: {error}"));
        }
        problems
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn write(&mut self, words: &[&str]) {
        let line = serde_json::to_string(words).unwrap_or_default();
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.sync_data());
        written.unwrap_or_else(|error| panic!("the ledger cannot be written: {error}"));
    }

    fn judge_prints(&self, problems: &mut Vec<String>) {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (words, text) in &self.printed {
            seen.insert(text);
            let Some(cue) = self.offered.get(text) else {
                problems.push(format!(
                    "I4: {text:?} was printed for {words:?}, and nobody wrote it"
                ));
                continue;
            };
            match self.accepted.get(cue) {
                None => problems.push(format!("I4: {text:?} was printed and never accepted")),
                Some(accepted) if accepted != text => {
                    problems.push(format!("I3: {cue} was told {text:?}, accepted was {accepted:?}"));
                }
                Some(_) => {}
            }
            match self.acked.get(cue) {
                Some(asked) if asked == words => {}
                asked => problems.push(format!("I5: {words:?} got the answer to {asked:?}: {text:?}")),
            }
        }
        for (cue, text) in &self.accepted {
            if !seen.contains(text.as_str()) {
                problems.push(format!("I2: {text:?} was accepted for {cue} and never printed"));
            }
        }
    }

    fn judge_database(&self, database: &Path, problems: &mut Vec<String>) -> rusqlite::Result<()> {
        let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if verdict != "ok" {
            problems.push(format!("I6: {verdict}"));
        }
        let mut statement = connection.prepare(
            "SELECT cue_id, prompt, text FROM cues JOIN questions USING (seq) LEFT JOIN decisions USING (seq)",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                (row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?),
            ))
        })?;
        let stored: HashMap<String, (String, Option<String>)> = rows.collect::<Result<_, _>>()?;
        for (cue, words) in &self.acked {
            match stored.get(cue) {
                Some((asked, _)) if asked == words => {}
                found => problems.push(format!(
                    "I1: {cue} ({words:?}) was confirmed, stored is {found:?}"
                )),
            }
        }
        for (cue, text) in &self.accepted {
            let kept = stored.get(cue).and_then(|(_, text)| text.as_ref());
            if kept != Some(text) {
                problems.push(format!("I2: {cue} was answered {text:?}, stored is {kept:?}"));
            }
        }
        let mut copies: HashMap<&str, usize> = HashMap::new();
        for (words, _) in stored.values() {
            *copies.entry(words).or_default() += 1;
        }
        for (words, count) in copies {
            let allowed = 1 + self.renewals.get(words).copied().unwrap_or(0);
            if count > allowed {
                problems.push(format!(
                    "{words:?} is {count} questions; it was asked {allowed} times"
                ));
            }
        }
        Ok(())
    }
}
