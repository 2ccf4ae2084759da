//! Statements without a needed result, until they are sent. Rows that the same statement writes share one execution.
//!
//! A row may be written earlier than it was queued, before statements that concern other questions and agents.

use std::collections::HashSet;

use uuid::Uuid;

use crate::statements::{IntoParam, Param, Step};

/// The most bytes of rows in one statement; the server refuses a message of more than a gigabyte.
const STATEMENT_BYTES_MAX: usize = 4 << 20;

/// One row for a statement whose first parameters are arrays, one for each column.
pub(crate) struct Row {
    pub(crate) sql: &'static str,
    /// What the row is about. No statement has two rows about the same.
    pub(crate) key: String,
    /// Something else that the row needs or changes, in a way that does not depend on the order of rows.
    pub(crate) also: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

/// A value of a row.
pub(crate) enum Cell {
    Bool(bool),
    Bytes(Option<Vec<u8>>),
    Id(Uuid),
    Int(Option<i64>),
    Text(Option<String>),
}

/// Makes the values of a row.
macro_rules! cells {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::queue::Cell::from($value)),*]
    };
}
pub(crate) use cells;

/// The queue.
#[derive(Default)]
pub(crate) struct Queue(Vec<Queued>);

enum Queued {
    One(Step),
    Many(Rows),
}

/// Rows that share a statement.
struct Rows {
    sql: &'static str,
    keys: HashSet<String>,
    also: HashSet<String>,
    columns: Vec<Column>,
    /// The parameters after the arrays, which are the same for all rows of a transaction.
    shared: Vec<Param>,
    bytes: usize,
}

/// The values of one column.
enum Column {
    Bool(Vec<bool>),
    Bytes(Vec<Option<Vec<u8>>>),
    Id(Vec<Uuid>),
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
}

impl Queue {
    /// Queues a statement after all others.
    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(Queued::One(step));
    }

    /// Queues a row; `shared` makes the parameters after its arrays.
    pub(crate) fn push_row(&mut self, row: Row, shared: impl FnOnce() -> Vec<Param>) {
        let bytes = row.cells.iter().map(Cell::bytes).sum();
        for queued in self.0.iter_mut().rev() {
            match queued {
                Queued::Many(rows) if rows.takes(&row, bytes) => {
                    rows.add(row, bytes);
                    return;
                }
                Queued::Many(rows) if !rows.concern(&row) => {}
                Queued::Many(_) | Queued::One(_) => break,
            }
        }
        let mut rows = Rows {
            sql: row.sql,
            keys: HashSet::new(),
            also: HashSet::new(),
            columns: row.cells.iter().map(Cell::column).collect(),
            shared: shared(),
            bytes: 0,
        };
        rows.add(row, bytes);
        self.0.push(Queued::Many(rows));
    }

    /// Takes the statements out, in an order that has the same effect as the one in which they were queued.
    pub(crate) fn take(&mut self) -> Vec<Step> {
        let queued = std::mem::take(&mut self.0);
        let steps = queued.into_iter().map(|queued| match queued {
            Queued::One(step) => step,
            Queued::Many(rows) => rows.into_step(),
        });
        steps.collect()
    }

    /// Forgets all statements.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Rows {
    /// Says whether a row can be one of these.
    fn takes(&self, row: &Row, bytes: usize) -> bool {
        self.sql == row.sql && !self.keys.contains(&row.key) && self.bytes + bytes <= STATEMENT_BYTES_MAX
    }

    /// Says whether one of these is about the same as a row, so that their order matters.
    fn concern(&self, row: &Row) -> bool {
        let has = |key: &String| self.keys.contains(key) || self.also.contains(key);
        has(&row.key) || row.also.as_ref().is_some_and(has)
    }

    fn add(&mut self, row: Row, bytes: usize) {
        self.bytes += bytes;
        self.keys.insert(row.key);
        self.also.extend(row.also);
        for (column, cell) in self.columns.iter_mut().zip(row.cells) {
            column.push(cell);
        }
    }

    fn into_step(self) -> Step {
        let mut params: Vec<Param> = self.columns.into_iter().map(Column::into_param).collect();
        params.extend(self.shared);
        Step::Prepared(self.sql, params)
    }
}

impl Cell {
    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(Some(bytes)) => bytes.len(),
            Self::Text(Some(text)) => text.len(),
            Self::Bytes(None) | Self::Text(None) | Self::Bool(_) | Self::Id(_) | Self::Int(_) => 0,
        }
    }

    fn column(&self) -> Column {
        match self {
            Self::Bool(_) => Column::Bool(Vec::new()),
            Self::Bytes(_) => Column::Bytes(Vec::new()),
            Self::Id(_) => Column::Id(Vec::new()),
            Self::Int(_) => Column::Int(Vec::new()),
            Self::Text(_) => Column::Text(Vec::new()),
        }
    }
}

impl Column {
    fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Self::Bool(values), Cell::Bool(value)) => values.push(value),
            (Self::Bytes(values), Cell::Bytes(value)) => values.push(value),
            (Self::Id(values), Cell::Id(value)) => values.push(value),
            (Self::Int(values), Cell::Int(value)) => values.push(value),
            (Self::Text(values), Cell::Text(value)) => values.push(value),
            (_, _) => unreachable!("all rows of a statement have the same columns"),
        }
    }

    fn into_param(self) -> Param {
        match self {
            Self::Bool(values) => values.into_param(),
            Self::Bytes(values) => values.into_param(),
            Self::Id(values) => values.into_param(),
            Self::Int(values) => values.into_param(),
            Self::Text(values) => values.into_param(),
        }
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<u8>> for Cell {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<Uuid> for Cell {
    fn from(value: Uuid) -> Self {
        Self::Id(value)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<Option<&str>> for Cell {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: &str = "ask";
    const HAND: &str = "hand";

    fn row(sql: &'static str, key: &str, also: Option<&str>) -> Row {
        Row {
            sql,
            key: key.to_owned(),
            also: also.map(str::to_owned),
            cells: vec![key.into()],
        }
    }

    fn queue(entries: &[(&'static str, &str, Option<&str>)]) -> Vec<String> {
        let mut queue = Queue::default();
        for (sql, key, also) in entries {
            match *key {
                "" => queue.push(Step::Plain(sql)),
                key => queue.push_row(row(sql, key, *also), Vec::new),
            }
        }
        let described = queue.take().into_iter().map(|step| match step {
            Step::Plain(sql) => sql.to_owned(),
            Step::Prepared(sql, params) => format!("{sql} {:?}", params[0]),
        });
        described.collect()
    }

    #[test]
    fn rows_about_different_questions_share_statements() {
        let sent = queue(&[
            (ASK, "1", Some("a")),
            (HAND, "1", None),
            (ASK, "2", Some("a")),
            (HAND, "2", None),
            (ASK, "3", Some("b")),
        ]);
        assert_eq!(
            sent,
            [
                r#"ask [Some("1"), Some("2"), Some("3")]"#,
                r#"hand [Some("1"), Some("2")]"#
            ]
        );
    }

    #[test]
    fn two_rows_about_the_same_question_keep_their_order() {
        let sent = queue(&[
            (HAND, "1", None),
            (HAND, "1", None),
            (ASK, "1", None),
            (HAND, "1", None),
        ]);
        assert_eq!(
            sent,
            [
                r#"hand [Some("1")]"#,
                r#"hand [Some("1")]"#,
                r#"ask [Some("1")]"#,
                r#"hand [Some("1")]"#
            ]
        );
    }

    #[test]
    fn no_row_overtakes_another_statement_or_what_it_needs() {
        assert_eq!(
            queue(&[(ASK, "1", None), ("other", "", None), (ASK, "2", None)]),
            [r#"ask [Some("1")]"#, "other", r#"ask [Some("2")]"#]
        );
        // The second question's agent is changed by the row in between.
        assert_eq!(
            queue(&[(ASK, "1", Some("a")), (HAND, "b", None), (ASK, "2", Some("b"))]),
            [r#"ask [Some("1")]"#, r#"hand [Some("b")]"#, r#"ask [Some("2")]"#]
        );
    }

    #[test]
    fn a_statement_stays_small_enough() {
        let long = "x".repeat(STATEMENT_BYTES_MAX / 2 + 1);
        let mut queue = Queue::default();
        for key in ["1", "2"] {
            let mut row = row(ASK, key, None);
            row.cells.push(long.as_str().into());
            queue.push_row(row, Vec::new);
        }
        assert_eq!(queue.take().len(), 2);
    }
}
