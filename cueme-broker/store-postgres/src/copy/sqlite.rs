//! The side of a copy that is a file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cueme_store::StoreError;
use cueme_store_sqlite::{SqliteStore, Synchronous, failed};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, ToSql, params_from_iter};

use super::tables::{Table, TableDigest, Value};
use super::{BATCH_BYTES, BATCH_ROWS, CopyError};

/// A database that is read or written as a whole.
#[derive(Debug)]
pub(super) struct SqliteFile {
    path: PathBuf,
    connection: Connection,
}

impl SqliteFile {
    /// Opens a database that no broker uses, as of the newest schema.
    pub(super) fn open(path: &Path) -> Result<Self, CopyError> {
        if !path.is_file() {
            return Err(CopyError::Missing(path.to_owned()));
        }
        // Migrates it, and reads its log to the end.
        SqliteStore::open(path, Synchronous::Full, false)?.checkpoint()?;
        let connection = connect(path)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
        })
    }

    /// Makes an empty database; whatever an interrupted copy left there is removed.
    pub(super) fn create(path: &Path) -> Result<Self, CopyError> {
        remove(path)?;
        SqliteStore::open(path, Synchronous::Full, true)?.checkpoint()?;
        let connection = connect(path)?;
        let file = Self {
            path: path.to_owned(),
            connection,
        };
        file.batch("PRAGMA journal_mode = delete")?;
        file.batch("PRAGMA foreign_keys = on; BEGIN IMMEDIATE")?;
        Ok(file)
    }

    /// Gives all rows of a table away, some at once, in its order.
    pub(super) async fn take_rows(
        &self,
        table: &Table,
        mut take: impl AsyncFnMut(Vec<Vec<Value>>) -> Result<(), CopyError>,
    ) -> Result<(), CopyError> {
        let failed = self.failed("read");
        let mut statement = self.connection.prepare(&select(table)).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let (mut some, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            let row = values(row, table).map_err(failed)?;
            bytes += row.iter().map(Value::bytes).sum::<usize>();
            some.push(row);
            if some.len() == BATCH_ROWS || bytes >= BATCH_BYTES {
                take(std::mem::take(&mut some)).await?;
                bytes = 0;
            }
        }
        match some.is_empty() {
            true => Ok(()),
            false => take(some).await,
        }
    }

    /// Returns what a table has.
    pub(super) fn digest(&self, table: &Table) -> Result<TableDigest, CopyError> {
        let failed = self.failed("read");
        let mut statement = self.connection.prepare(&select(table)).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut digest = TableDigest::default();
        while let Some(row) = rows.next().map_err(failed)? {
            digest.add(&values(row, table).map_err(failed)?);
        }
        Ok(digest)
    }

    /// Returns how many rows a table has.
    pub(super) fn count(&self, table: &Table) -> Result<u64, CopyError> {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        self.connection
            .query_row(&sql, [], |row| row.get(0))
            .map_err(self.failed("read"))
    }

    /// Adds a row.
    pub(super) fn insert(&self, table: &Table, row: &[Value]) -> Result<(), CopyError> {
        let failed = self.failed("write");
        let places: Vec<String> = (1..=row.len()).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            table.name,
            table.column_list(),
            places.join(", ")
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed)?;
        statement.execute(params_from_iter(row)).map_err(failed)?;
        Ok(())
    }

    /// Returns the highest number that a table has given to a row.
    pub(super) fn last_number(&self, table: &str, column: &str) -> Result<i64, CopyError> {
        let sql = format!(
            "SELECT max(ifnull((SELECT max({column}) FROM {table}), 0),
                        ifnull((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0))"
        );
        self.connection
            .query_row(&sql, [table], |row| row.get(0))
            .map_err(self.failed("read"))
    }

    /// Makes a table number its rows above this one.
    pub(super) fn set_last_number(&self, table: &str, number: i64) -> Result<(), CopyError> {
        let failed = self.failed("write");
        let run = |sql: &str| self.connection.execute(sql, (table, number)).map_err(failed);
        if run("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1")? == 0 {
            run("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")?;
        }
        Ok(())
    }

    /// Makes it durable. Everything is indexed by the broker that opens it, from the oldest question on.
    pub(super) fn finish(self) -> Result<(), CopyError> {
        self.batch(
            "UPDATE marks SET value = ifnull((SELECT min(seq) - 1 FROM questions), 0) WHERE name = 'questions_indexed';
             COMMIT",
        )?;
        let Self { path, connection } = self;
        let closed = connection.close().map_err(|(_, error)| error);
        closed.map_err(failed("write", &path))?;
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(|source| io("write", &path, source))
    }

    fn batch(&self, sql: &str) -> Result<(), CopyError> {
        self.connection.execute_batch(sql).map_err(self.failed("write"))
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> CopyError + Copy + use<'_> {
        let failed = failed(doing, &self.path);
        move |error| CopyError::Store(failed(error))
    }
}

/// Removes a database and what SQLite keeps beside it.
pub(super) fn remove(path: &Path) -> Result<(), CopyError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("remove", Path::new(&name), error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Says that a file could not be used.
pub(super) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> CopyError {
    CopyError::Store(StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    })
}

pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(failed("open", path))
}

fn select(table: &Table) -> String {
    format!(
        "SELECT {} FROM {} ORDER BY {}",
        table.column_list(),
        table.name,
        table.order
    )
}

fn values(row: &Row<'_>, table: &Table) -> rusqlite::Result<Vec<Value>> {
    let value = |column| {
        Ok(match row.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Number(number),
            // A text that is damaged is copied as far as it can be read, and its seal says that it is damaged.
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
            ValueRef::Real(number) => Value::Text(number.to_string()),
        })
    };
    (0..table.columns.len()).map(value).collect()
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
