//! The errors of the database.

use std::path::{Path, PathBuf};

use thiserror::Error;

const FULL_HINT: &str = "the disk is full: free some space, nothing needs to be restarted";

/// The reason why the store could not do its work.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database returned an error.
    #[error("could not {doing} the database {}: {source}", path.display())]
    Database {
        /// The attempted operation.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// The database's error.
        source: DatabaseFault,
    },
    /// The file system returned an error.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
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
    /// The database file is damaged.
    #[error("the database {} is damaged: {what}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The damage found.
        what: String,
    },
    /// One question's record is damaged; the rest of the database may be intact.
    #[error("question {cue} is out of service, its record is damaged: {what}")]
    DamagedQuestion {
        /// The question.
        cue: String,
        /// The damage found.
        what: String,
    },
    /// The write-ahead log is damaged.
    #[error("the database {} is damaged: {what}", path.display())]
    LogDamaged {
        /// The database.
        path: PathBuf,
        /// Its write-ahead log.
        log: PathBuf,
        /// The damage found.
        what: String,
    },
    /// There is no space left.
    #[error("the disk of {} is full; answers are still taken, new questions are not", path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
    },
    /// The file was moved, deleted or replaced while it was in use.
    #[error("the database {} was moved, deleted or replaced while the broker used it", path.display())]
    Gone {
        /// The path of the file.
        path: PathBuf,
    },
    /// A commit failed, and the store could not find out whether it happened.
    #[error("it is not known whether this was stored in {}: {what}", path.display())]
    InDoubt {
        /// The database.
        path: PathBuf,
        /// The error of the commit.
        what: String,
    },
    /// The database server is not suitable for storing answers.
    #[error("the database {} cannot be used: {what}", path.display())]
    Unsuitable {
        /// The database.
        path: PathBuf,
        /// The problem found.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// A stored value has no meaning.
    #[error("the database holds {what} that this program does not understand: {value}")]
    BadValue {
        /// The kind of value.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A statement failed.
    #[error("storage failed: {0}")]
    Statement(DatabaseFault),
}

/// A database's error message, and its classification.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct DatabaseFault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The database's message.
    pub message: String,
}

/// The kind of a database's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no space.
    Full,
    /// It refused one statement cleanly; nothing else changed.
    Refused,
    /// It undid the transaction because another one was in its way; a retry may succeed.
    Conflict,
    /// It cannot be opened or written, because of permissions.
    NotWritable,
    /// Its content is damaged.
    Corrupt,
    /// It is unreachable; everything committed before is there when it is reachable again.
    Unreachable,
    /// The state of the last write is unknown.
    Other,
}

impl StoreError {
    /// Returns the remedy for the user.
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
            Self::Database { source, path, .. } => hint_for(source, Some(path)),
            Self::Statement(source) => hint_for(source, None),
            Self::NoSpace { .. } => Some(FULL_HINT.into()),
            Self::Gone { .. } => Some("run the same command again: it starts a new broker".into()),
            Self::DamagedQuestion { cue, .. } => Some(format!(
                "ask again with the same words: that is a new question; `cueme cancel {cue}` closes this one, and \
                 `cueme doctor` lists the damage"
            )),
            Self::InDoubt { .. } => Some(
                "run the same command again when the database can be reached: it stores a question or an answer once; \
                 a message of `cueme say` may be stored twice"
                    .into(),
            ),
            Self::Unsuitable { remedy, .. } => Some(remedy.clone()),
            Self::Io { .. } | Self::BadValue { .. } => None,
        }
    }

    /// Says whether the store may have changed unexpectedly; false for errors that leave it as it was, such as a
    /// refused statement or a full disk.
    pub fn is_alarming(&self) -> bool {
        match self {
            Self::Database { source, .. } | Self::Statement(source) => !matches!(
                source.kind,
                FaultKind::Refused | FaultKind::Conflict | FaultKind::Full | FaultKind::Unreachable
            ),
            Self::NoSpace { .. } | Self::DamagedQuestion { .. } | Self::Unsuitable { .. } => false,
            Self::Io { .. }
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::LogDamaged { .. }
            | Self::Gone { .. }
            | Self::InDoubt { .. }
            | Self::BadValue { .. } => true,
        }
    }

    /// Says whether the connection was cut, so that a retry over another one may succeed.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Database { source, .. } | Self::Statement(source) => source.kind == FaultKind::Unreachable,
            _ => false,
        }
    }

    /// Says whether another transaction was in its way, so that a retry may succeed.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Database { source, .. } | Self::Statement(source) => source.kind == FaultKind::Conflict,
            _ => false,
        }
    }

    /// Says whether it failed because there is no space.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Database { source, .. } | Self::Statement(source) => source.kind == FaultKind::Full,
            Self::NoSpace { .. } => true,
            _ => false,
        }
    }
}

fn hint_for(fault: &DatabaseFault, path: Option<&Path>) -> Option<String> {
    match fault.kind {
        FaultKind::Full => Some(FULL_HINT.into()),
        FaultKind::NotWritable => {
            let place = path.map_or_else(
                || "the data directory".to_owned(),
                |path| path.display().to_string(),
            );
            Some(format!("check that {place} can be written by you"))
        }
        FaultKind::Corrupt => {
            Some("`cueme doctor` checks the database, `cueme restore <a backup>` replaces it".into())
        }
        FaultKind::Unreachable => Some(
            "check that the database server runs and can be reached; nothing needs to be restarted".into(),
        ),
        FaultKind::Refused | FaultKind::Conflict | FaultKind::Other => None,
    }
}
