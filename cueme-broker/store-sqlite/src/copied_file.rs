//! A database file that is read or written as a whole, as the source or the target of a copy.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use cueme_store::copy::{BATCH_BYTES, BATCH_ROWS, Table, TableDigest, Value};
use cueme_store::{CheckReport, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};

use crate::fault::failed;
use crate::maintain::make_portable;
use crate::open::{SqliteStore, Synchronous};

/// A database that is read or written as a whole.
#[derive(Debug)]
pub struct SqliteFile {
    path: PathBuf,
    connection: Connection,
}

impl SqliteFile {
    /// Opens a database that no broker uses, as of the newest schema.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // Migrates it, and reads its log to the end.
        SqliteStore::open(path, Synchronous::Full, false)?.checkpoint()?;
        let connection = connect(path)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
        })
    }

    /// Creates an empty database; a leftover of an interrupted copy is removed.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        remove_database(path)?;
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

    /// Passes all rows of a table on in batches, in its order.
    pub async fn take_rows<E: From<StoreError>>(
        &self,
        table: &Table,
        mut take: impl AsyncFnMut(Vec<Vec<Value>>) -> Result<(), E>,
    ) -> Result<(), E> {
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

    /// Returns the digest of a table.
    pub fn digest(&self, table: &Table) -> Result<TableDigest, StoreError> {
        let failed = self.failed("read");
        let mut statement = self.connection.prepare(&select(table)).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut digest = TableDigest::default();
        while let Some(row) = rows.next().map_err(failed)? {
            digest.add(&values(row, table).map_err(failed)?);
        }
        Ok(digest)
    }

    /// Returns the number of rows of a table.
    pub fn count(&self, table: &Table) -> Result<u64, StoreError> {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        self.connection
            .query_row(&sql, [], |row| row.get(0))
            .map_err(self.failed("read"))
    }

    /// Adds a row.
    pub fn insert(&self, table: &Table, row: &[Value]) -> Result<(), StoreError> {
        let failed = self.failed("write");
        let places: Vec<String> = (1..=row.len()).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            table.name,
            table.column_list(),
            places.join(", ")
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed)?;
        statement
            .execute(params_from_iter(row.iter().map(written)))
            .map_err(failed)?;
        Ok(())
    }

    /// Returns the highest number that a table has assigned to a row.
    pub fn last_number(&self, table: &str, column: &str) -> Result<i64, StoreError> {
        let sql = format!(
            "SELECT max(ifnull((SELECT max({column}) FROM {table}), 0),
                        ifnull((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0))"
        );
        self.connection
            .query_row(&sql, [table], |row| row.get(0))
            .map_err(self.failed("read"))
    }

    /// Makes a table number its rows above this one.
    pub fn set_last_number(&self, table: &str, number: i64) -> Result<(), StoreError> {
        let failed = self.failed("write");
        let run = |sql: &str| self.connection.execute(sql, (table, number)).map_err(failed);
        if run("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1")? == 0 {
            run("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")?;
        }
        Ok(())
    }

    /// Makes it durable. The broker that opens it indexes everything, from the oldest question on.
    pub fn finish(self) -> Result<(), StoreError> {
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

    /// Makes a finished file the portable one of a backup, and checks it.
    pub fn make_portable(path: &Path) -> Result<CheckReport, StoreError> {
        make_portable(path, &connect(path)?)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(self.failed("write"))
    }

    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + Copy + use<'_> {
        failed(doing, &self.path)
    }
}

/// Removes a database and the files that SQLite keeps beside it.
pub fn remove_database(path: &Path) -> Result<(), StoreError> {
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

fn io(doing: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
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
            // A damaged text is copied as far as it can be read, and its checksum reveals the damage.
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
            ValueRef::Real(number) => Value::Text(number.to_string()),
        })
    };
    (0..table.columns.len()).map(value).collect()
}

fn written(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Number(number) => ValueRef::Integer(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
    })
}
