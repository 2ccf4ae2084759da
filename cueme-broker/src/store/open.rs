//! Opens the database: creates, migrates, checks and configures it.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::log::{Gauge, beside, has_log, refuse_damaged};
use super::space::give_back_on_demand;

/// The newest schema this program knows: the number of migrations.
pub const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// Each brings the schema from its index to the next number. Released ones are never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_init.sql"),
    include_str!("../../migrations/0002_web.sql"),
    include_str!("../../migrations/0003_seal.sql"),
    include_str!("../../migrations/0004_runs.sql"),
    include_str!("../../migrations/0005_unseen.sql"),
    include_str!("../../migrations/0006_words.sql"),
    include_str!("../../migrations/0007_receipts.sql"),
    include_str!("../../migrations/0008_consent.sql"),
];

/// How long a statement waits for another connection's lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How many prepared statements are kept.
const STATEMENTS_MAX: usize = 64;

/// When SQLite waits for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// At every commit: what was acknowledged survives a power loss.
    #[default]
    Full,
    /// At checkpoints only. For comparison in benchmarks; a power loss may undo acknowledged commits.
    Normal,
}

/// The one connection that writes.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// How long its log is.
    pub(super) log: Arc<Gauge>,
    /// Which file the path meant when it was opened.
    file: Option<FileId>,
}

impl Store {
    /// Opens the database at `path`, creating or migrating it as needed.
    ///
    /// `was_clean` says that the last broker stopped in an orderly way; otherwise the file is checked first.
    pub fn open(path: &Path, synchronous: Synchronous, was_clean: bool) -> Result<Self, StoreError> {
        create_private(path)?;
        let failed = |doing| move |source| StoreError::of_file(doing, path, source);
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
            file: FileId::of(path),
        })
    }

    /// Returns where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a transaction that writes.
    pub fn begin(&self) -> Result<(), StoreError> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    /// Makes everything since [`begin`](Self::begin) durable.
    ///
    /// A file that is not where it was opened any more keeps nothing for the next broker, so that is a failure.
    pub fn commit(&self) -> Result<(), StoreError> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        if FileId::of(&self.path) != self.file {
            return Err(StoreError::Gone {
                path: self.path.clone(),
            });
        }
        Ok(())
    }

    /// Undoes everything since [`begin`](Self::begin); without effect outside a transaction.
    pub fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // If even this fails the connection is replaced by its owner, which undoes the transaction too.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Tells files apart, whatever they are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns which file a path means, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::from)
    }
}

impl From<&std::fs::Metadata> for FileId {
    fn from(found: &std::fs::Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
        }
    }
}

pub(super) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = open_beside(path)?;
    keep_plans(&connection)
        .and_then(|()| connection.pragma_update(None, "query_only", true))
        .map_err(|source| StoreError::Sqlite {
            doing: "configure",
            path: path.to_owned(),
            source,
        })?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(connection)
}

/// Opens another connection to a database that is in use.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    // Not SQLITE_OPEN_READ_ONLY: whoever uses a write-ahead log must be able to create its shared memory.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| connection.busy_timeout(BUSY_TIMEOUT).map(|()| connection))
        .map_err(|source| StoreError::Sqlite {
            doing: "open",
            path: path.to_owned(),
            source,
        })
}

/// Creates the file so that nobody else can ever have read it.
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

/// Looks at the schema before anything could write, so that a newer database is left exactly as it is.
fn refuse_newer(path: &Path) -> Result<(), StoreError> {
    let found = match schema_in_header(path) {
        Some(found) => Ok(found),
        None => match read_schema(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            // The power was lost while the file was made: what was begun has to be undone before it can be read.
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ReadOnly) => {
                read_schema(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            read => read,
        },
    };
    let found = found.map_err(|source| StoreError::of_file("read the schema of", path, source))?;
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
        // SQLite does not call it an error when it could not change it. Nothing here was made for another one.
        return Err(not_in_wal_mode(&mode));
    }
    let level = match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Erased secrets and deleted questions are overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", true)
}

fn not_in_wal_mode(mode: &str) -> rusqlite::Error {
    let failed = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    rusqlite::Error::SqliteFailure(failed, Some(format!("its journal stays in mode {mode}")))
}

/// Keeps prepared statements prepared: beside partial indexes SQLite would plan them anew for every bound value.
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
    let failed = |source| StoreError::Sqlite {
        doing: "migrate",
        path: path.to_owned(),
        source,
    };
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
    use super::*;

    #[test]
    fn a_database_that_cannot_have_a_write_ahead_log_is_not_used() {
        let connection = Connection::open_in_memory().unwrap();
        let configured = configure(&connection, Synchronous::Full);
        let error = configured.unwrap_err().to_string();
        assert!(error.contains("mode memory"), "{error}");
    }
}
