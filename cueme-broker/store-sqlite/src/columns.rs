//! Columns of SQLite's rows as typed values.

use std::borrow::Cow;
use std::ops::Deref;

use cueme_store::rows::Columns;
use protocol_spec::id::RequestId;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use uuid::Uuid;

use super::fault::Fault;

/// A row of a query.
#[derive(Debug)]
pub(super) struct SqliteRow<'r>(pub(super) &'r Row<'r>);

impl<'r> Deref for SqliteRow<'r> {
    type Target = Row<'r>;

    fn deref(&self) -> &Row<'r> {
        self.0
    }
}

impl Columns for SqliteRow<'_> {
    type Fault = Fault;

    fn is_null(&self, column: usize) -> Result<bool, Fault> {
        Ok(self.get_ref(column)? == ValueRef::Null)
    }

    fn maybe_text(&self, column: usize) -> Result<Option<String>, Fault> {
        Ok(self.get(column)?)
    }

    fn text(&self, column: usize) -> Result<String, Fault> {
        Ok(self.get(column)?)
    }

    fn lossy_text(&self, column: usize) -> Result<(String, bool), Fault> {
        let text = String::from_utf8_lossy(self.get_ref(column)?.as_bytes().unwrap_or_default());
        let is_whole = matches!(text, Cow::Borrowed(_));
        Ok((text.into_owned(), is_whole))
    }

    fn number(&self, column: usize) -> Result<i64, Fault> {
        Ok(self.get(column)?)
    }

    fn maybe_number(&self, column: usize) -> Result<Option<i64>, Fault> {
        Ok(self.get(column)?)
    }

    fn flag(&self, column: usize) -> Result<bool, Fault> {
        Ok(self.get(column)?)
    }

    fn maybe_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Fault> {
        Ok(self.get(column)?)
    }

    fn request(&self, column: usize) -> Result<RequestId, Fault> {
        Ok(RequestId(Uuid::from_bytes(self.get(column)?)))
    }
}
