//! What can go wrong with the database.

use std::path::{Path, PathBuf};

use thiserror::Error;

const FULL_HINT: &str = "the disk is full: free some space, nothing needs to be restarted";

/// Why the store could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite said no.
    #[error("could not {doing} the database {}: {source}", path.display())]
    Sqlite {
        /// What was being attempted.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file system said no.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// What was being attempted.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A newer program wrote this database.
    #[error("the database {} has schema {found}, this program knows schemas up to {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema this program knows.
        known: u32,
    },
    /// The file is not what it should be.
    #[error("the database {} is damaged: {what}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// One question is not what was written; everything else may be.
    #[error("question {cue} is out of service, its record is damaged: {what}")]
    DamagedQuestion {
        /// The question.
        cue: String,
        /// What was found.
        what: String,
    },
    /// What was written last is not what was written.
    #[error("the database {} is damaged: {what}", path.display())]
    LogDamaged {
        /// The database.
        path: PathBuf,
        /// Its write-ahead log.
        log: PathBuf,
        /// What was found.
        what: String,
    },
    /// There is no space left.
    #[error("the disk of {} is full; answers are still taken, new questions are not", path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
    },
    /// Somebody moved, deleted or replaced the file while it was in use.
    #[error("the database {} was moved, deleted or replaced while the broker used it", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// A stored value has no meaning.
    #[error("the database holds {what} that this program does not understand: {value}")]
    Meaning {
        /// The kind of value.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A statement failed.
    #[error("storage failed: {0}")]
    Statement(#[from] rusqlite::Error),
}

impl StoreError {
    /// Says what SQLite could not do with a file; damage is called that, whatever it was found by.
    pub(super) fn of_file(doing: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged {
                path,
                what: source.to_string(),
            },
            _ => Self::Sqlite { doing, path, source },
        }
    }

    /// Says what a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Newer { .. } => {
                Some("update cueme to the version that wrote it; nothing was changed".into())
            }
            Self::Damaged { path, .. } => Some(format!(
                "stop the broker, keep a copy of {}, then `cueme restore <a backup>`",
                path.display()
            )),
            Self::LogDamaged { path, log, .. } => Some(format!(
                "keep a copy of {} and {}, then `cueme restore <a backup>`; without one, remove {} to go on with what was \
                 there before the damage",
                path.display(),
                log.display(),
                log.display()
            )),
            Self::Sqlite { source, path, .. } => hint_for(source, Some(path)),
            Self::Statement(source) => hint_for(source, None),
            Self::NoSpace { .. } => Some(FULL_HINT.into()),
            Self::Gone { .. } => Some("run the same command again: it starts a new broker".into()),
            Self::DamagedQuestion { cue, .. } => Some(format!(
                "ask again with the same words: that is a new question; `cueme cancel {cue}` closes this one, and \
                 `cueme doctor` lists the damage"
            )),
            Self::Io { .. } | Self::Meaning { .. } => None,
        }
    }

    /// Says whether a value could not be read, while the row it stands in could.
    pub(super) fn is_of_one_value(&self) -> bool {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match self {
            Self::Meaning { .. } => true,
            Self::Statement(source) => matches!(
                source,
                FromSqlConversionFailure(..)
                    | IntegralValueOutOfRange(..)
                    | InvalidColumnType(..)
                    | Utf8Error(..)
            ),
            _ => false,
        }
    }

    /// Says whether the file may not be what it was: everything but a statement that SQLite refused in good order.
    pub(crate) fn is_alarming(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked, DiskFull, TooBig};
        match self {
            Self::Sqlite { source, .. } | Self::Statement(source) => !matches!(
                source.sqlite_error_code(),
                Some(ConstraintViolation | DatabaseBusy | DatabaseLocked | DiskFull | TooBig)
            ),
            Self::NoSpace { .. } | Self::DamagedQuestion { .. } => false,
            Self::Io { .. }
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::LogDamaged { .. }
            | Self::Gone { .. }
            | Self::Meaning { .. } => true,
        }
    }

    /// Says whether it failed because there is no space.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Sqlite { source, .. } | Self::Statement(source) => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
            }
            Self::NoSpace { .. } => true,
            Self::Io { .. }
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::DamagedQuestion { .. }
            | Self::LogDamaged { .. }
            | Self::Gone { .. }
            | Self::Meaning { .. } => false,
        }
    }
}

fn hint_for(error: &rusqlite::Error, path: Option<&PathBuf>) -> Option<String> {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code()? {
        ErrorCode::DiskFull => Some(FULL_HINT.into()),
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            let place = path.map_or_else(
                || "the data directory".to_owned(),
                |path| path.display().to_string(),
            );
            Some(format!("check that {place} can be written by you"))
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            Some("`cueme doctor` checks the database, `cueme restore <a backup>` replaces it".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn sqlite(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn whoever_can_do_something_about_it_is_told_what() {
        let path = PathBuf::from("/data/cueme.db");
        let at_path = |code| StoreError::Sqlite {
            doing: "open",
            path: path.clone(),
            source: sqlite(code),
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
                StoreError::of_file("open", &path, sqlite(ffi::SQLITE_CORRUPT)),
                "keep a copy of /data/cueme.db",
            ),
            (
                StoreError::of_file("open", &path, sqlite(ffi::SQLITE_NOTADB)),
                "cueme restore",
            ),
            (at_path(ffi::SQLITE_READONLY), "/data/cueme.db can be written"),
            (
                StoreError::Statement(sqlite(ffi::SQLITE_CANTOPEN)),
                "the data directory can be written",
            ),
            (StoreError::Statement(sqlite(ffi::SQLITE_CORRUPT)), "cueme doctor"),
            (StoreError::Statement(sqlite(ffi::SQLITE_FULL)), "free some space"),
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
            assert!(!StoreError::Statement(sqlite(code)).is_alarming(), "{code}");
        }
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_CORRUPT, ffi::SQLITE_CANTOPEN] {
            assert!(StoreError::Statement(sqlite(code)).is_alarming(), "{code}");
        }
        assert!(StoreError::Gone { path: PathBuf::new() }.is_alarming());
    }

    #[test]
    fn only_a_full_disk_is_full() {
        assert!(StoreError::Statement(sqlite(ffi::SQLITE_FULL)).is_full());
        assert!(StoreError::NoSpace { path: PathBuf::new() }.is_full());
        assert!(!StoreError::Statement(sqlite(ffi::SQLITE_IOERR)).is_full());
        assert!(!StoreError::Gone { path: PathBuf::new() }.is_full());
    }
}
