//! Columns as typed values.

use std::str::FromStr;

use protocol_spec::id::RequestId;
use protocol_spec::time::Timestamp;

use crate::{Code, StoreError, parse_id};

/// The reason why a row could not be read.
pub trait RowFault: From<StoreError> + Into<StoreError> {
    /// Says whether one value could not be read, while the rest of its row could.
    fn is_of_one_value(&self) -> bool;
}

/// The columns of a row, by their number.
pub trait Columns {
    /// The error of the store.
    type Fault: RowFault;

    /// Says whether a column of text has no value; the value itself may be damaged.
    fn is_null(&self, column: usize) -> Result<bool, Self::Fault>;

    /// Reads a text, if there is one.
    fn maybe_text(&self, column: usize) -> Result<Option<String>, Self::Fault>;

    /// Reads a text.
    fn text(&self, column: usize) -> Result<String, Self::Fault>;

    /// Reads a text as far as it can be read, and says whether that is all of it.
    fn lossy_text(&self, column: usize) -> Result<(String, bool), Self::Fault>;

    /// Reads a number.
    fn number(&self, column: usize) -> Result<i64, Self::Fault>;

    /// Reads a number, if there is one.
    fn maybe_number(&self, column: usize) -> Result<Option<i64>, Self::Fault>;

    /// Reads yes or no.
    fn flag(&self, column: usize) -> Result<bool, Self::Fault>;

    /// Reads bytes, if there are any.
    fn maybe_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Self::Fault>;

    /// Reads the key of a call.
    fn request(&self, column: usize) -> Result<RequestId, Self::Fault>;

    /// Reads a hash.
    fn hash(&self, column: usize) -> Result<[u8; 32], Self::Fault> {
        let bytes = self.maybe_bytes(column)?.unwrap_or_default();
        let count = bytes.len();
        let hash = bytes.try_into().map_err(|_| StoreError::BadValue {
            what: "a hash",
            value: format!("{count} bytes"),
        });
        Ok(hash?)
    }

    /// Reads an id.
    fn id<T: FromStr>(&self, column: usize) -> Result<T, Self::Fault> {
        Ok(parse_id(self.text(column)?)?)
    }

    /// Reads an id, if there is one.
    fn maybe_id<T: FromStr>(&self, column: usize) -> Result<Option<T>, Self::Fault> {
        Ok(self.maybe_text(column)?.map(parse_id).transpose()?)
    }

    /// Reads a value of an enumeration.
    fn code<T: Code>(&self, column: usize) -> Result<T, Self::Fault> {
        Ok(T::from_number(self.number(column)?)?)
    }

    /// Reads a time.
    fn time(&self, column: usize) -> Result<Timestamp, Self::Fault> {
        Ok(Timestamp::from_millis(self.number(column)?))
    }

    /// Reads a time, if there is one.
    fn maybe_time(&self, column: usize) -> Result<Option<Timestamp>, Self::Fault> {
        Ok(self.maybe_number(column)?.map(Timestamp::from_millis))
    }

    /// Reads a count.
    fn count<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Self::Fault> {
        let count = self.number(column)?;
        let converted = T::try_from(count).map_err(|_| StoreError::BadValue {
            what: "a number",
            value: count.to_string(),
        });
        Ok(converted?)
    }
}
