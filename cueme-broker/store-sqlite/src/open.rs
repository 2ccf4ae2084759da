//! Opens the database: creates, migrates, checks and configures it.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cueme_store::{BatchId, Foreign, StoreError, Transactions};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use super::checkpointer::Checkpointer;
use super::fault::{failed, failed_or_damaged};
use super::log::{Gauge, beside, has_log, refuse_damaged};
use super::space::give_back_on_demand;

/// The newest schema this program knows: the number of migrations.
pub const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// Each brings the schema from its index to the next number. Released ones are never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_init.sql"),
    include_str!("../migrations/0002_web.sql"),
    include_str!("../migrations/0003_seal.sql"),
    include_str!("../migrations/0004_runs.sql"),
    include_str!("../migrations/0005_unseen.sql"),
    include_str!("../migrations/0006_words.sql"),
    include_str!("../migrations/0007_receipts.sql"),
    include_str!("../migrations/0008_consent.sql"),
    include_str!("../migrations/0009_leads.sql"),
    include_str!("../migrations/0010_token_expiry.sql"),
];

/// The time that a statement waits for another connection's lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The key of the name of the last committed batch.
const BATCH_MARK: &str = "batch";
/// The most prepared statements that are cached.
const STATEMENTS_MAX: usize = 64;

/// When SQLite waits for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// At every commit: acknowledged commits survive a power loss.
    #[default]
    Full,
    /// At checkpoints only. For comparison in benchmarks; a power loss may undo acknowledged commits.
    Normal,
}

/// The one connection that writes.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// The length of its log.
    pub(super) log: Arc<Gauge>,
    /// The file at the path when it was opened, by device and inode.
    file: Option<(u64, u64)>,
    /// Whether there are texts that are not indexed yet.
    pub(super) is_unindexed: Cell<bool>,
    /// Whether the log may still hold secrets that were erased from the database.
    pub(super) has_erased: Cell<bool>,
    /// Whether the log has its preallocated space.
    pub(super) has_log_room: Cell<bool>,
    /// Started when the first checkpoint is due.
    pub(super) checkpointer: Option<Checkpointer>,
}

impl SqliteStore {
    /// Opens the database at `path`, creating or migrating it as needed.
    ///
    /// `was_clean` says that the last broker stopped in an orderly way; otherwise the file is checked first.
    pub fn open(path: &Path, synchronous: Synchronous, was_clean: bool) -> Result<Self, StoreError> {
        // An orderly stop leaves no log behind; a log that is there may hold data that was erased from the database.
        let has_erased = has_log(path);
        create_private(path)?;
        let failed = |doing| failed_or_damaged(doing, path);
        if synchronous == Synchronous::Full {
            refuse_damaged(path)?;
        }
        refuse_newer(path)?;
        let mut connection = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )
        .map_err(failed("open"))?;
        configure(&connection, synchronous).map_err(failed("configure"))?;
        let log = Gauge::of(&mut connection, path).map_err(failed("configure"))?;
        if !was_clean {
            quick_check(&connection, path)?;
        }
        migrate(&mut connection, path)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(Self {
            connection,
            path: path.to_owned(),
            log,
            file: identity(path),
            is_unindexed: Cell::new(true),
            has_erased: Cell::new(has_erased),
            has_log_room: Cell::new(false),
            checkpointer: None,
        })
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends a transaction.
    ///
    /// A file that was moved or deleted since it was opened stores nothing for the next broker, so that is a failure.
    pub(super) fn end_transaction(&self) -> Result<(), StoreError> {
        self.run("COMMIT", &[])?;
        if identity(&self.path) != self.file {
            return Err(StoreError::Gone {
                path: self.path.clone(),
            });
        }
        Ok(())
    }
}

impl Transactions for SqliteStore {
    fn begin(&self) -> Result<Foreign, StoreError> {
        self.run("BEGIN IMMEDIATE", &[])?;
        Ok(Foreign::default())
    }

    fn commit(&self, batch: BatchId) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO marks (name, value) VALUES (?1, ?2)",
            params![BATCH_MARK, batch.0.cast_signed()],
        )?;
        self.end_transaction()?;
        self.is_unindexed.set(true);
        self.forget_erased();
        Ok(())
    }

    fn has_committed(&self, batch: BatchId) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM marks WHERE name = ?1 AND value = ?2",
            params![BATCH_MARK, batch.0.cast_signed()],
        )
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // If even this fails, the owner replaces the connection, which undoes the transaction, too.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Identifies a file independent of its name: by device and inode.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

pub(super) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = open_beside(path)?;
    keep_plans(&connection)
        .and_then(|()| connection.pragma_update(None, "query_only", true))
        .map_err(failed("configure", path))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(connection)
}

/// Opens another connection to a database that is in use.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    // Not SQLITE_OPEN_READ_ONLY: a connection to a write-ahead log must be able to create its shared memory.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| connection.busy_timeout(BUSY_TIMEOUT).map(|()| connection))
        .map_err(failed("open", path))
}

/// Creates the file so that no other user can ever have read it.
fn create_private(path: &Path) -> Result<(), StoreError> {
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    opened.map(drop).map_err(|source| StoreError::Io {
        doing: "create the database",
        path: path.to_owned(),
        source,
    })
}

/// Reads the schema before anything could write, so that a newer database is left exactly as it is.
fn refuse_newer(path: &Path) -> Result<(), StoreError> {
    let found = match schema_in_header(path) {
        Some(found) => Ok(found),
        None => match read_schema(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            // The power was lost during the creation: the unfinished transaction has to be rolled back before it can be
            // read.
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly) => {
                read_schema(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            read => read,
        },
    };
    let found = found.map_err(failed_or_damaged("read the schema of", path))?;
    if found > SCHEMA {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known: SCHEMA,
        });
    }
    Ok(())
}

/// Reads the schema's number where the file format keeps it, if nothing beside the file could say otherwise.
///
/// A whole connection for one number makes and removes a log and its index, at each start of a broker.
fn schema_in_header(path: &Path) -> Option<u32> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    const NUMBER_AT: usize = 60;
    if has_log(path) || beside(path, "-journal").exists() {
        return None;
    }
    let mut header = [0; 100];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let number = header[NUMBER_AT..].first_chunk()?;
    header.starts_with(MAGIC).then(|| u32::from_be_bytes(*number))
}

fn read_schema(path: &Path, flags: OpenFlags) -> rusqlite::Result<u32> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    schema_of(&connection)
}

pub(super) fn schema_of(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn configure(connection: &Connection, synchronous: Synchronous) -> rusqlite::Result<()> {
    keep_plans(connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Before anything else makes its first page.
    give_back_on_demand(connection)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        // SQLite reports no error when it could not change the mode. This store works with no other mode.
        return Err(not_in_wal_mode(&mode));
    }
    let level = match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level)?;
    // On macOS a plain fsync leaves the data in the drive's cache; elsewhere these two change nothing.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Erased secrets and deleted questions are overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", true)
}

fn not_in_wal_mode(mode: &str) -> rusqlite::Error {
    let failed = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    rusqlite::Error::SqliteFailure(failed, Some(format!("its journal stays in mode {mode}")))
}

/// Caches prepared statements: beside partial indexes SQLite would plan them again for every bound value.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
}

fn quick_check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let damaged = |what: String| StoreError::Damaged {
        path: path.to_owned(),
        what,
    };
    let verdict: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| damaged(error.to_string()))?;
    if verdict == "ok" {
        Ok(())
    } else {
        Err(damaged(verdict))
    }
}

/// Applies each missing migration in a transaction of its own, together with the new schema number.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = failed("migrate", path);
    let from = schema_of(connection).map_err(failed)?;
    for (number, migration) in (1u32..).zip(MIGRATIONS).skip(from as usize) {
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(migration).map_err(failed)?;
        transaction
            .pragma_update(None, "user_version", number)
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cueme_store::SettingRecords;

    use super::*;

    #[test]
    fn whether_a_batch_was_committed_can_be_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let open = || SqliteStore::open(&path, Synchronous::Full, true).unwrap();
        let store = open();
        store.begin().unwrap();
        store.commit(BatchId(u64::MAX)).unwrap();
        store.begin().unwrap();
        store.set("language", "en").unwrap();
        drop(store);
        let store = open();
        assert!(store.has_committed(BatchId(u64::MAX)).unwrap());
        assert!(!store.has_committed(BatchId(1)).unwrap());
        store.begin().unwrap();
        store.commit(BatchId(1)).unwrap();
        assert!(store.has_committed(BatchId(1)).unwrap());
        assert!(!store.has_committed(BatchId(u64::MAX)).unwrap());
    }

    #[test]
    fn a_database_that_cannot_have_a_write_ahead_log_is_not_used() {
        let connection = Connection::open_in_memory().unwrap();
        let configured = configure(&connection, Synchronous::Full);
        let error = configured.unwrap_err().to_string();
        assert!(error.contains("mode memory"), "{error}");
    }
}
