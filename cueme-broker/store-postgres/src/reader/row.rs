//! Conversion of columns to typed values.

use std::str::FromStr;

use cueme_store::rows::{self, RowFault};
use cueme_store::{Code, StoreError, parse_id};
use protocol_spec::id::RequestId;
use protocol_spec::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::Fault;
use crate::text::Text;

/// Reads columns by their number.
pub(crate) trait Columns {
    fn value<'a, T: FromSql<'a>>(&'a self, column: usize) -> Result<T, Fault>;

    fn text(&self, column: usize) -> Result<String, Fault> {
        Ok(self.value::<Text>(column)?.0)
    }

    fn maybe_text(&self, column: usize) -> Result<Option<String>, Fault> {
        Ok(self.value::<Option<Text>>(column)?.map(|text| text.0))
    }

    fn id<T: FromStr>(&self, column: usize) -> Result<T, Fault> {
        Ok(parse_id(self.text(column)?)?)
    }

    fn code<T: Code>(&self, column: usize) -> Result<T, Fault> {
        Ok(T::from_number(self.value(column)?)?)
    }

    fn time(&self, column: usize) -> Result<Timestamp, Fault> {
        Ok(Timestamp::from_millis(self.value(column)?))
    }

    fn maybe_time(&self, column: usize) -> Result<Option<Timestamp>, Fault> {
        Ok(self.value::<Option<i64>>(column)?.map(Timestamp::from_millis))
    }

    fn count<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Fault> {
        let count: i64 = self.value(column)?;
        T::try_from(count).map_err(|_| {
            Fault::Store(StoreError::BadValue {
                what: "a number",
                value: count.to_string(),
            })
        })
    }
}

impl Columns for Row {
    fn value<'a, T: FromSql<'a>>(&'a self, column: usize) -> Result<T, Fault> {
        Ok(self.try_get(column)?)
    }
}

/// A row, for the views that all stores share.
pub(crate) struct PostgresRow<'a>(pub(crate) &'a Row);

impl rows::Columns for PostgresRow<'_> {
    type Fault = Fault;

    fn is_null(&self, column: usize) -> Result<bool, Fault> {
        Ok(self.maybe_text(column)?.is_none())
    }

    fn maybe_text(&self, column: usize) -> Result<Option<String>, Fault> {
        Columns::maybe_text(self.0, column)
    }

    fn text(&self, column: usize) -> Result<String, Fault> {
        Columns::text(self.0, column)
    }

    fn lossy_text(&self, column: usize) -> Result<(String, bool), Fault> {
        Ok((self.text(column)?, true))
    }

    fn number(&self, column: usize) -> Result<i64, Fault> {
        self.0.value(column)
    }

    fn maybe_number(&self, column: usize) -> Result<Option<i64>, Fault> {
        self.0.value(column)
    }

    fn flag(&self, column: usize) -> Result<bool, Fault> {
        self.0.value(column)
    }

    fn maybe_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Fault> {
        self.0.value(column)
    }

    fn request(&self, column: usize) -> Result<RequestId, Fault> {
        Ok(RequestId(self.0.value(column)?))
    }
}

impl RowFault for Fault {
    fn is_of_one_value(&self) -> bool {
        // No statement runs while a row is read, so an error of the driver is about the value.
        matches!(self, Self::Postgres(_) | Self::Store(StoreError::BadValue { .. }))
    }
}
