//! Reads beside the engine, on connections that cannot write.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cueme_store::StoreError;
use rusqlite::{Connection, Params, Row};

use super::fault::Fault;
use super::open::open_for_reading;

/// The most idle connections that are kept.
const IDLE_CONNECTIONS_MAX: usize = 4;

/// Reads of the database beside the engine.
#[derive(Debug)]
pub struct SqliteReader {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteReader {
    /// Prepares reads of the database at `path`, which exists.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Returns all rows that a query finds.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, StoreError> {
        self.with(|connection| read_rows(connection, sql, params, read))
    }

    /// Returns the first row that a query finds.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            rows.next()?.map(read).transpose()
        })
    }

    /// Runs reads on one connection.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_for_reading(&self.path)?,
        };
        let result = read(&connection);
        // A connection that failed may be the reason; the next reader opens a new one.
        if result.is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_CONNECTIONS_MAX {
                idle.push(connection);
            }
        }
        Ok(result?)
    }
}

/// Returns all rows that a query finds.
pub(super) fn read_rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_and_then(params, read)?.collect()
}
