//! The verdict on a scenario: one row per case.

use crate::limits;

/// The result of one host in one case.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The host's tag.
    pub(crate) host: &'static str,
    /// The case, as the table calls it.
    pub(crate) case: &'static str,
    /// Whether it held, or why not.
    pub(crate) result: Result<(), String>,
    /// The place of its scenario among all of them.
    pub(crate) scenario: usize,
    /// Its place among the rows of its scenario.
    pub(crate) index: usize,
}

impl Row {
    /// Says what is wrong with the row: it failed, or a limit that is stated does not exist any more.
    pub(crate) fn complaint(&self) -> Option<String> {
        let Self {
            host, case, result, ..
        } = self;
        match (result, limits::reason(host, case)) {
            (Ok(()), None) | (Err(_), Some(_)) => None,
            (Err(why), None) => Some(format!("{host}: {case}: {why}")),
            (Ok(()), Some(reason)) => Some(format!(
                "{host}: {case}: it works, so its limit is out of date: {reason}"
            )),
        }
    }
}

/// Collects the rows of one host in one scenario.
#[derive(Debug)]
pub(crate) struct Rows {
    host: &'static str,
    rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn of(host: &'static str) -> Self {
        Self {
            host,
            rows: Vec::new(),
        }
    }

    /// Adds a case that holds when this does.
    pub(crate) fn check(&mut self, case: &'static str, holds: bool, why: impl FnOnce() -> String) {
        self.add(case, if holds { Ok(()) } else { Err(why()) });
    }

    /// Adds a case with its result.
    pub(crate) fn add(&mut self, case: &'static str, result: Result<(), String>) {
        self.rows.push(Row {
            host: self.host,
            case,
            result,
            scenario: 0,
            index: self.rows.len(),
        });
    }

    pub(crate) fn done(self) -> Vec<Row> {
        self.rows
    }
}
