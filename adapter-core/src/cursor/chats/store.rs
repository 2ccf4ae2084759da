//! Opens a chat store for reading while Cursor writes to it.
//!
//! One read-only connection holds one deferred transaction, so everything read through it is one state of the
//! chat. The database is never opened as immutable: the newest turns live in the `-wal` file beside it, and
//! SQLite ignores that file in an immutable database.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row};
use tempfile::TempDir;

use super::blob_id::BlobId;
use super::error::ChatsError;

/// The timeout of waiting for a writer that locks the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest blob that is read at all.
const BLOB_BYTES_MAX: i64 = 64 << 20;
/// The largest blob read ahead. Superseded roots of long chats are larger, and there is one for each step.
const READ_AHEAD_BLOB_BYTES_MAX: i64 = 16 << 10;
/// The limit on all bytes that are read ahead; the rest is looked up blob by blob.
const READ_AHEAD_BYTES_MAX: usize = 64 << 20;
/// The largest store that is copied when it cannot be read in place.
const COPY_BYTES_MAX: u64 = 1 << 30;

/// A blob, if it is there and not too large.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Blob {
    Found(Bytes),
    Missing,
    TooLarge(i64),
}

/// An open chat store.
#[derive(Debug)]
pub(super) struct ChatStore {
    path: PathBuf,
    connection: Connection,
    ahead: ReadAhead,
    /// Keeps the copy alive when the store could not be read in place.
    _copy: Option<TempDir>,
}

/// Small blobs read in one scan, which is several times faster than looking each of them up.
#[derive(Debug, Default)]
struct ReadAhead {
    bytes: Bytes,
    spans: HashMap<BlobId, (usize, usize)>,
}

impl ChatStore {
    /// Opens the store at `path`, following symbolic links.
    pub(super) fn open(path: &Path) -> Result<Self, ChatsError> {
        let metadata = fs::metadata(path).map_err(io_error("open", path))?;
        if !metadata.is_file() {
            return Err(ChatsError::NotAFile(path.to_owned()));
        }
        if metadata.len() == 0 {
            return Err(ChatsError::EmptyFile(path.to_owned()));
        }
        match connect(path) {
            Ok(connection) => Ok(Self::new(path, connection, None)),
            Err(error) if cannot_share_memory(&error) => Self::open_copy(path, &error),
            Err(error) => Err(sqlite_error("open", path, error)),
        }
    }

    /// Opens a private copy of a store in a directory where SQLite may not create the files it shares with
    /// writers. No writer can be at work there either, or those files would exist.
    fn open_copy(path: &Path, error: &rusqlite::Error) -> Result<Self, ChatsError> {
        tracing::debug!(path = %path.display(), %error, "reading a copy of the chat store");
        let real = fs::canonicalize(path).map_err(io_error("resolve", path))?;
        let bytes = fs::metadata(&real).map_err(io_error("open", path))?.len();
        if bytes > COPY_BYTES_MAX {
            return Err(ChatsError::TooLarge {
                path: path.to_owned(),
                bytes,
            });
        }
        let directory = TempDir::new().map_err(io_error("create a directory for a copy of", path))?;
        let copy = directory.path().join("store.db");
        copy_file(&real, &copy)?;
        let log = with_suffix(&real, "-wal");
        if log.exists() {
            copy_file(&log, &with_suffix(&copy, "-wal"))?;
        }
        let connection = connect(&copy).map_err(|error| sqlite_error("open a copy of", path, error))?;
        Ok(Self::new(path, connection, Some(directory)))
    }

    fn new(path: &Path, connection: Connection, copy: Option<TempDir>) -> Self {
        ChatStore {
            path: path.to_owned(),
            connection,
            ahead: ReadAhead::default(),
            _copy: copy,
        }
    }

    /// Returns the metadata row as it stands; none if the table has no such row.
    pub(super) fn meta_row(&self) -> Result<Option<Vec<u8>>, ChatsError> {
        self.connection
            .query_row("SELECT value FROM meta WHERE key = '0'", [], |row| {
                column_bytes(row, 0)
            })
            .optional()
            .map(Option::flatten)
            .map_err(|error| match self.has_table("meta") {
                Ok(false) => ChatsError::NotAChat(self.path.clone()),
                _ => sqlite_error("read the metadata of", &self.path, error),
            })
    }

    fn has_table(&self, name: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
        self.connection.query_row(sql, [name], |row| row.get(0))
    }

    /// Reads small blobs in one scan. Blobs that were read before an error stay usable.
    pub(super) fn read_ahead(&mut self) -> rusqlite::Result<()> {
        let mut bytes = Vec::with_capacity(self.file_bytes().min(READ_AHEAD_BYTES_MAX));
        let outcome = scan_small_blobs(&self.connection, &mut bytes, &mut self.ahead.spans);
        self.ahead.bytes = Bytes::from(bytes);
        outcome
    }

    /// Returns the size of the store, which bounds that of its blobs; zero if it cannot be told.
    fn file_bytes(&self) -> usize {
        fs::metadata(&self.path)
            .ok()
            .and_then(|metadata| usize::try_from(metadata.len()).ok())
            .unwrap_or(0)
    }

    /// Returns the blob with this id.
    pub(super) fn blob(&self, id: BlobId) -> rusqlite::Result<Blob> {
        match self.ahead.spans.get(&id) {
            Some(&(start, end)) => Ok(Blob::Found(self.ahead.bytes.slice(start..end))),
            None => self.blob_by_text(&id.to_string()),
        }
    }

    /// Returns the blob with this id, whatever form the id has.
    pub(super) fn blob_by_text(&self, id: &str) -> rusqlite::Result<Blob> {
        let sql = "SELECT CASE WHEN length(data) <= ?2 THEN data END, length(data) FROM blobs WHERE id = ?1";
        let found = self
            .connection
            .prepare_cached(sql)?
            .query_row((id, BLOB_BYTES_MAX), |row| {
                Ok((column_bytes(row, 0)?, row.get::<_, Option<i64>>(1)?.unwrap_or(0)))
            })
            .optional()?;
        Ok(match found {
            None => Blob::Missing,
            Some((None, bytes)) if bytes > BLOB_BYTES_MAX => Blob::TooLarge(bytes),
            Some((data, _)) => Blob::Found(Bytes::from(data.unwrap_or_default())),
        })
    }
}

fn scan_small_blobs(
    connection: &Connection,
    bytes: &mut Vec<u8>,
    spans: &mut HashMap<BlobId, (usize, usize)>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT id, data FROM blobs WHERE length(data) <= ?1")?;
    let mut rows = statement.query([READ_AHEAD_BLOB_BYTES_MAX])?;
    while let Some(row) = rows.next()? {
        let (Some(id), Some(data)) = (value_bytes(row.get_ref(0)?), value_bytes(row.get_ref(1)?)) else {
            continue;
        };
        if bytes.len() + data.len() > READ_AHEAD_BYTES_MAX {
            break;
        }
        if let Some(id) = BlobId::from_hex(id) {
            let start = bytes.len();
            bytes.extend_from_slice(data);
            spans.insert(id, (start, bytes.len()));
        }
    }
    Ok(())
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("PRAGMA query_only = 1; BEGIN DEFERRED")?;
    // The transaction starts, and a file that is no database shows, only with the first read.
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Tells whether SQLite failed because it may not create the files next to a database in WAL mode.
fn cannot_share_memory(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn copy_file(from: &Path, to: &Path) -> Result<(), ChatsError> {
    fs::copy(from, to).map(drop).map_err(io_error("read", from))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn column_bytes(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    Ok(value_bytes(row.get_ref(index)?).map(<[u8]>::to_vec))
}

/// Returns the bytes of text or a blob; other clients than Cursor have written either for the other.
fn value_bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

fn io_error(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ChatsError {
    let path = path.to_owned();
    move |source| ChatsError::Io {
        attempt,
        path,
        source,
    }
}

fn sqlite_error(attempt: &'static str, path: &Path, source: rusqlite::Error) -> ChatsError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ChatsError::NotSqlite(path),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ChatsError::Busy(path),
        _ => ChatsError::Sqlite {
            attempt,
            path,
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_store_includes_what_is_only_in_its_log() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("store.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                 CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
                 INSERT INTO meta VALUES ('0', '{}');",
            )
            .unwrap();
        let refused = rusqlite::Error::InvalidQuery;
        let store = ChatStore::open_copy(&path, &refused).unwrap();
        assert_eq!(store.meta_row().unwrap().as_deref(), Some(&b"{}"[..]));
    }
}
