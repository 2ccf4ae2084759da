//! Errors inside the store: those of SQLite, and those that are store errors already.

use std::path::Path;

use cueme_store::{DatabaseFault, FaultKind, StoreError};
use thiserror::Error;

/// An error before it is turned into the public one.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Fault {
    /// Says whether a row, or a value of it, could not be read, while others may be.
    pub(crate) fn is_of_one_row(&self) -> bool {
        let is_corrupt =
            matches!(self, Self::Sqlite(source) if meaning_of(source).kind == FaultKind::Corrupt);
        is_corrupt || self.is_of_one_value()
    }

    /// Says whether one value could not be read, while the rest of its row could.
    pub(crate) fn is_of_one_value(&self) -> bool {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match self {
            Self::Store(error) => matches!(error, StoreError::BadValue { .. }),
            Self::Sqlite(source) => matches!(
                source,
                FromSqlConversionFailure(..)
                    | IntegralValueOutOfRange(..)
                    | InvalidColumnType(..)
                    | Utf8Error(..)
            ),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(source) => Self::Statement(meaning_of(&source)),
            Fault::Store(error) => error,
        }
    }
}

/// Turns an error of SQLite into the error of a database operation.
pub(crate) fn failed<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl Fn(rusqlite::Error) -> StoreError + Copy + use<'a> {
    move |source| StoreError::Database {
        doing,
        path: path.to_owned(),
        source: meaning_of(&source),
    }
}

/// Turns an error of SQLite into the error of a database operation, and one about a damaged file into damage.
pub(crate) fn failed_or_damaged<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl Fn(rusqlite::Error) -> StoreError + Copy + use<'a> {
    move |source| match meaning_of(&source) {
        DatabaseFault {
            kind: FaultKind::Corrupt,
            message: what,
        } => StoreError::Damaged {
            path: path.to_owned(),
            what,
        },
        source => StoreError::Database {
            doing,
            path: path.to_owned(),
            source,
        },
    }
}

fn meaning_of(error: &rusqlite::Error) -> DatabaseFault {
    use rusqlite::ErrorCode;
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => FaultKind::Full,
        Some(
            ErrorCode::ConstraintViolation
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::TooBig,
        ) => FaultKind::Refused,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            FaultKind::NotWritable
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FaultKind::Corrupt,
        _ => FaultKind::Other,
    };
    DatabaseFault {
        kind,
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use rusqlite::ffi;

    fn sqlite(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn whoever_can_do_something_about_it_is_told_what() {
        let path = PathBuf::from("/data/cueme.db");
        let at_path = |code| StoreError::Database {
            doing: "open",
            path: path.clone(),
            source: meaning_of(&sqlite(code)),
        };
        let newer = StoreError::Newer {
            path: path.clone(),
            found: 9,
            known: 5,
        };
        let gone = StoreError::Gone { path: path.clone() };
        for (error, word) in [
            (newer, "update cueme"),
            (
                failed_or_damaged("open", &path)(sqlite(ffi::SQLITE_CORRUPT)),
                "keep a copy of /data/cueme.db",
            ),
            (
                failed_or_damaged("open", &path)(sqlite(ffi::SQLITE_NOTADB)),
                "cueme restore",
            ),
            (at_path(ffi::SQLITE_READONLY), "/data/cueme.db can be written"),
            (
                StoreError::Statement(meaning_of(&sqlite(ffi::SQLITE_CANTOPEN))),
                "the data directory can be written",
            ),
            (
                StoreError::Statement(meaning_of(&sqlite(ffi::SQLITE_CORRUPT))),
                "cueme doctor",
            ),
            (
                StoreError::Statement(meaning_of(&sqlite(ffi::SQLITE_FULL))),
                "free some space",
            ),
            (StoreError::NoSpace { path: path.clone() }, "free some space"),
            (gone, "starts a new broker"),
        ] {
            let hint = error.hint().unwrap_or_default();
            assert!(hint.contains(word), "{error}: {hint}");
        }
        assert_eq!(at_path(ffi::SQLITE_BUSY).hint(), None);
    }

    #[test]
    fn a_statement_that_was_refused_in_good_order_is_no_alarm() {
        for code in [ffi::SQLITE_CONSTRAINT, ffi::SQLITE_FULL, ffi::SQLITE_BUSY] {
            assert!(
                !StoreError::Statement(meaning_of(&sqlite(code))).is_alarming(),
                "{code}"
            );
        }
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_CORRUPT, ffi::SQLITE_CANTOPEN] {
            assert!(
                StoreError::Statement(meaning_of(&sqlite(code))).is_alarming(),
                "{code}"
            );
        }
        assert!(StoreError::Gone { path: PathBuf::new() }.is_alarming());
    }

    #[test]
    fn only_a_full_disk_is_full() {
        assert!(StoreError::Statement(meaning_of(&sqlite(ffi::SQLITE_FULL))).is_full());
        assert!(StoreError::NoSpace { path: PathBuf::new() }.is_full());
        assert!(!StoreError::Statement(meaning_of(&sqlite(ffi::SQLITE_IOERR))).is_full());
        assert!(!StoreError::Gone { path: PathBuf::new() }.is_full());
    }
}
