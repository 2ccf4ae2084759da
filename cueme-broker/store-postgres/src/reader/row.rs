//! Conversion of columns to typed values.

use std::str::FromStr;

use cueme_store::{Code, StoreError, parse_id};
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

    fn maybe_id<T: FromStr>(&self, column: usize) -> Result<Option<T>, Fault> {
        Ok(self.maybe_text(column)?.map(parse_id).transpose()?)
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
