//! Errors inside the store: those of PostgreSQL, and those that are store errors already.

use std::error::Error as _;
use std::path::Path;

use cueme_store::{DatabaseFault, FaultKind, StoreError};
use thiserror::Error;
use tokio_postgres::error::SqlState;

/// An error before it is turned into the public one.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Postgres(source) => Self::Statement(meaning_of(&source)),
            Fault::Store(error) => error,
        }
    }
}

/// Returns the error of an unreachable database.
pub(crate) fn unreachable(location: &Path, error: &tokio_postgres::Error) -> StoreError {
    StoreError::Database {
        doing: "connect to",
        path: location.to_owned(),
        source: meaning_of(error),
    }
}

/// Turns an error of PostgreSQL into the error of a database operation.
pub(crate) fn failed<'a>(
    doing: &'static str,
    location: &'a Path,
) -> impl Fn(tokio_postgres::Error) -> StoreError + Copy + use<'a> {
    move |error| StoreError::Database {
        doing,
        path: location.to_owned(),
        source: meaning_of(&error),
    }
}

pub(crate) fn meaning_of(error: &tokio_postgres::Error) -> DatabaseFault {
    let kind = match error.code() {
        Some(state) => kind_of(state),
        // No response of the server: the connection broke, or could not be made.
        None if is_of_connection(error) => FaultKind::Unreachable,
        None => FaultKind::Other,
    };
    DatabaseFault {
        kind,
        message: words_of(error),
    }
}

fn kind_of(state: &SqlState) -> FaultKind {
    if *state == SqlState::DISK_FULL {
        return FaultKind::Full;
    }
    if *state == SqlState::INSUFFICIENT_PRIVILEGE || *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        return FaultKind::NotWritable;
    }
    // This broker stood still in a transaction, and the server has ended its connection.
    if *state == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT {
        return FaultKind::Unreachable;
    }
    if *state == SqlState::T_R_DEADLOCK_DETECTED || *state == SqlState::T_R_SERIALIZATION_FAILURE {
        return FaultKind::Conflict;
    }
    let class = state.code().get(..2).unwrap_or_default();
    match class {
        // Data, constraints, limits, conflicts, and statements that were cancelled.
        "22" | "23" | "40" | "54" | "55" => FaultKind::Refused,
        // A connection that failed, a login that was refused, and a server that stops or has no room for one more.
        "08" | "28" | "3D" | "53" => FaultKind::Unreachable,
        "57" if *state == SqlState::QUERY_CANCELED => FaultKind::Refused,
        "57" => FaultKind::Unreachable,
        "XX" if *state != SqlState::INTERNAL_ERROR => FaultKind::Corrupt,
        _ => FaultKind::Other,
    }
}

fn is_of_connection(error: &tokio_postgres::Error) -> bool {
    error.is_closed()
        || error
            .source()
            .is_some_and(|source| source.downcast_ref::<std::io::Error>().is_some())
}

/// Returns the server's message, or the cause of an error of the driver, which names only its kind.
fn words_of(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
