//! The write-ahead log: its longest size, and the space preallocated for it.
//!
//! A [`LogCheckpointer`] checkpoints the log concurrently, each time it has grown enough. The writer [checkpoints the
//! rest](SqliteStore::checkpoint_rest) itself, the few commits made meanwhile, so that the log can restart. A commit
//! checkpoints the whole log only if that did not keep it short.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cueme_store::StoreError;
use rusqlite::Connection;

use super::SqliteStore;
use super::fault::Fault;
use super::log_damage::damage_in;
use super::open::{BUSY_TIMEOUT, open_beside};

/// The longest log, in pages: the commit that reaches it checkpoints, and all callers wait for that.
const PAGES_MAX: u64 = 16_000;
/// Below that, it is checkpointed concurrently, each time it has grown by this many pages. On a small disk, where the
/// limit is lower, commits checkpoint it, because the space that they may use is known there.
const CHECKPOINT_EVERY: u64 = 2000;
/// On a small disk, the limit is this fraction of the free space (one part in so many).
const DISK_SHARE: u64 = 8;
/// The limit while the disk is full, so that the log stays small, in pages.
const PAGES_MAX_WHEN_FULL: u64 = 50;
/// The size of a page, in bytes.
const PAGE_BYTES: u64 = 4096;
/// The bytes that the log adds to each page.
const PAGE_HEADER_BYTES: u64 = 24;
/// The pages preallocated in the log's file: enough for the log to restart before it needs more.
const ROOM_PAGES: u64 = 2500;
/// The bytes preallocated at once; callers wait that long.
const ROOM_BYTES: usize = 256 * 1024;

impl SqliteStore {
    /// Returns the limit of the log's length.
    pub(super) fn log_pages_max(&self, is_saving: bool) -> u64 {
        if is_saving {
            PAGES_MAX_WHEN_FULL
        } else {
            log_pages(&self.path)
        }
    }

    /// Checkpoints the pages that no reader needs any more. The log restarts with the next commit, if those were all.
    pub fn checkpoint_rest(&self) -> Result<(), StoreError> {
        Ok(checkpoint(&self.connection)?)
    }

    /// Checkpoints the write-ahead log and truncates it, unless a reader still needs it.
    /// Returns whether it is empty. Until then, data erased from the database stays readable in the log.
    /// Returns whether it is empty. What was erased from the database stays readable in the log until then.
    pub fn empty_log(&self) -> Result<bool, StoreError> {
        self.with(|connection| {
            // A writer does not wait for readers here: they may take long, and this can be retried.
            connection.busy_timeout(Duration::ZERO)?;
            let busy =
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            connection.busy_timeout(BUSY_TIMEOUT)?;
            Ok(busy? == 0)
        })
    }

    /// Checkpoints the write-ahead log, so that the database file alone is complete.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.with(|connection| Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?))
    }

    /// Preallocates a piece of the log's file, if that is short; returns whether it still is.
    ///
    /// A commit into a file that is long enough waits for its data alone, which took a third less time where it was
    /// measured. SQLite never reads beyond the last commit in the file.
    pub(super) fn make_log_room(&self) -> io::Result<bool> {
        if log_pages(&self.path) < ROOM_PAGES {
            // The little space left is for necessary writes.
            return Ok(false);
        }
        let wanted = ROOM_PAGES * (PAGE_BYTES + PAGE_HEADER_BYTES);
        let log = match OpenOptions::new().write(true).open(log_path(&self.path)) {
            // SQLite creates the log with the first commit.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        let length = log.metadata()?.len();
        if length >= wanted {
            return Ok(false);
        }
        log.write_all_at(&vec![0; ROOM_BYTES], length)?;
        log.sync_all()?;
        Ok(length + (ROOM_BYTES as u64) < wanted)
    }
}

/// The length of the log, and its limit.
#[derive(Debug)]
pub(super) struct Gauge {
    /// Its length, in pages, after the last commit.
    pages: AtomicU64,
    /// The limit, in pages.
    pub(super) pages_max: AtomicU64,
    /// Its length when a checkpoint was last due.
    due_at: AtomicU64,
}

impl Gauge {
    /// Follows the log of a connection, which checkpoints by itself when it has become too long.
    pub(super) fn of(connection: &mut Connection, path: &Path) -> rusqlite::Result<Arc<Self>> {
        let gauge = Arc::new(Self {
            pages: AtomicU64::new(0),
            pages_max: AtomicU64::new(log_pages(path)),
            due_at: AtomicU64::new(0),
        });
        let held = Arc::clone(&gauge);
        connection.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, pages| {
            if held.is_full_with(u64::try_from(pages).unwrap_or(0)) {
                // The commit stands even if this fails; the next one retries.
                let _ = log.checkpoint();
            }
            Ok(())
        }))?;
        Ok(gauge)
    }

    /// Records the length after a commit; says whether the log has reached its limit.
    fn is_full_with(&self, pages: u64) -> bool {
        self.pages.store(pages, Ordering::Relaxed);
        pages >= self.pages_max.load(Ordering::Relaxed)
    }

    /// Says whether the log has grown enough for a checkpoint since the last time it said so.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        let due_at = self.due_at.load(Ordering::Relaxed);
        // A log that is shorter than before has restarted.
        let checkpointed = if pages < due_at { 0 } else { due_at };
        let is_due = pages - checkpointed >= CHECKPOINT_EVERY;
        self.due_at
            .store(if is_due { pages } else { checkpointed }, Ordering::Relaxed);
        is_due
    }
}

/// Checkpoints the log on a connection of its own.
#[derive(Debug)]
pub struct LogCheckpointer {
    connection: Connection,
}

impl LogCheckpointer {
    /// Opens a database that is in use.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_beside(path)?;
        Ok(Self { connection })
    }

    /// Checkpoints the pages that no reader needs any more; writers continue meanwhile.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        Ok(checkpoint(&self.connection)?)
    }
}

fn checkpoint(connection: &Connection) -> Result<(), Fault> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

/// Says whether there is a log beside a database that no process has open.
pub(super) fn has_log(database: &Path) -> bool {
    log_path(database).exists()
}

/// Refuses a log that was changed after it was written: SQLite would silently drop everything after the change.
pub(super) fn refuse_damaged(database: &Path) -> Result<(), StoreError> {
    let path = log_path(database);
    let log = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|source| StoreError::Io {
            doing: "read the log of the database",
            path: path.clone(),
            source,
        })?,
    };
    match damage_in(&log) {
        Some(what) => Err(StoreError::LogDamaged {
            path: database.to_owned(),
            log: path,
            what,
        }),
        None => Ok(()),
    }
}

fn log_path(database: &Path) -> PathBuf {
    beside(database, "-wal")
}

/// Returns the path of a file that SQLite keeps beside a database.
pub(super) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Returns how large the log may grow, in pages.
pub(super) fn log_pages(database: &Path) -> u64 {
    let free = database
        .parent()
        .and_then(|directory| rustix::fs::statvfs(directory).ok());
    pages_for(free.map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize)))
}

fn pages_for(free_bytes: u64) -> u64 {
    (free_bytes / DISK_SHARE / PAGE_BYTES).clamp(PAGES_MAX_WHEN_FULL, PAGES_MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use cueme_rules::Change;
    use cueme_store::{BatchId, Changes, Transactions, Upkeep};
    use protocol_spec::id::AgentId;
    use protocol_spec::time::Timestamp;

    use super::*;
    use crate::Synchronous;

    fn join(store: &SqliteStore, number: u32) {
        let change = Change::AddAgent {
            agent: AgentId::from_random(number),
            runtime: "terminal".parse().unwrap(),
            project_dir: "/".into(),
            terminal: "bash".into(),
            session: None,
        };
        store.begin().unwrap();
        store.apply(Timestamp::from_millis(0), &change).unwrap();
        store.commit(BatchId(1)).unwrap();
    }

    /// Returns the number of agents that a broker finds when it starts on these files as they are now.
    fn agents_after_a_crash(directory: &Path) -> u32 {
        let copy = tempfile::tempdir().unwrap();
        for name in ["cueme.db", "cueme.db-wal"] {
            std::fs::copy(directory.join(name), copy.path().join(name)).unwrap();
        }
        let store = SqliteStore::open(&copy.path().join("cueme.db"), Synchronous::Full, false).unwrap();
        let count = store
            .connection
            .query_row("SELECT count(*) FROM agents", [], |row| row.get(0));
        count.unwrap()
    }

    #[test]
    fn room_is_made_once_and_no_commit_is_lost_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("cueme.db"), Synchronous::Full, true).unwrap();
        join(&store, 1);
        while store.make_log_room().unwrap() {}
        let length = std::fs::metadata(directory.path().join("cueme.db-wal"))
            .unwrap()
            .len();
        assert!(length >= ROOM_PAGES * (PAGE_BYTES + PAGE_HEADER_BYTES));
        join(&store, 2);
        assert_eq!(agents_after_a_crash(directory.path()), 2);
        assert!(store.empty_log().unwrap());
        while store.make_log_room().unwrap() {}
        assert_eq!(agents_after_a_crash(directory.path()), 2);
        join(&store, 3);
        assert_eq!(agents_after_a_crash(directory.path()), 3);
    }

    #[test]
    fn the_log_takes_an_eighth_of_what_is_free_within_its_bounds() {
        let pages = 8 * 4096;
        assert_eq!(pages_for(0), 50);
        assert_eq!(pages_for(50 * pages), 50);
        assert_eq!(pages_for(700 * pages), 700);
        assert_eq!(pages_for(701 * pages - 1), 700);
        assert_eq!(pages_for(u64::MAX), 16_000);
    }

    fn length_of_log(store: &SqliteStore) -> u64 {
        store.log.pages.load(Ordering::Relaxed)
    }

    #[test]
    fn a_log_that_is_checkpointed_whenever_it_is_due_restarts_whoever_commits_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cueme.db");
        let store = SqliteStore::open(&path, Synchronous::Full, true).unwrap();
        let checkpointer = LogCheckpointer::open(&path).unwrap();
        let (mut agents, mut checkpoints, mut longest) = (0, 0, 0);
        let mut join_another = || {
            agents += 1;
            join(&store, agents);
            longest = longest.max(length_of_log(&store));
        };
        while checkpoints < 3 {
            join_another();
            if store.log.is_checkpoint_due() {
                checkpointer.checkpoint().unwrap();
                join_another();
                store.checkpoint_rest().unwrap();
                checkpoints += 1;
            }
        }
        assert!(
            (CHECKPOINT_EVERY..CHECKPOINT_EVERY + 100).contains(&longest),
            "{longest}"
        );
        assert_eq!(agents_after_a_crash(directory.path()), agents);
    }

    #[test]
    fn a_log_that_nobody_checkpoints_is_by_the_commit_that_makes_it_too_long() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("cueme.db"), Synchronous::Full, true).unwrap();
        store.log.pages_max.store(100, Ordering::Relaxed);
        let mut longest = 0;
        for number in 1..=200 {
            join(&store, number);
            longest = longest.max(length_of_log(&store));
        }
        assert!((100..130).contains(&longest), "{longest}");
        assert_eq!(agents_after_a_crash(directory.path()), 200);
    }

    #[test]
    fn while_the_disk_is_full_the_log_is_emptied_and_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("cueme.db"), Synchronous::Full, true).unwrap();
        let longest_of = |numbers: std::ops::Range<u32>| {
            let lengths = numbers.map(|number| {
                join(&store, number);
                length_of_log(&store)
            });
            lengths.max().unwrap()
        };
        assert!(longest_of(1..100) > 2 * PAGES_MAX_WHEN_FULL);
        store.save_space(true);
        let log = std::fs::metadata(directory.path().join("cueme.db-wal")).unwrap();
        assert_eq!(log.len(), 0);
        assert!(longest_of(100..200) < 2 * PAGES_MAX_WHEN_FULL);
        store.save_space(false);
        assert!(longest_of(200..300) > 2 * PAGES_MAX_WHEN_FULL);
    }

    #[test]
    fn a_checkpoint_is_due_each_time_the_log_has_grown_enough() {
        let gauge = Gauge {
            pages: AtomicU64::new(0),
            pages_max: AtomicU64::new(PAGES_MAX),
            due_at: AtomicU64::new(0),
        };
        let is_due_at = |pages| !gauge.is_full_with(pages) && gauge.is_checkpoint_due();
        assert!(!is_due_at(1999));
        assert!(is_due_at(2100));
        assert!(!is_due_at(4099), "it was said at 2100");
        assert!(is_due_at(4100));
        assert!(!is_due_at(1999), "it has begun anew");
        assert!(is_due_at(2000));
        assert!(gauge.is_full_with(PAGES_MAX));
    }
}
