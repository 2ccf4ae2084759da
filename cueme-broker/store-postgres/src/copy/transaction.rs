//! The connection of a copy, and its one transaction.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::pin::pin;

use bytes::BytesMut;
use cueme_store::StoreError;
use cueme_store::copy::{Kind, TABLES, Table, TableDigest, Value};
use futures_util::TryStreamExt;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use tokio_postgres::{Client, IsolationLevel, Transaction};
use uuid::Uuid;

use crate::connect::Settings;
use crate::fault::Fault;
use crate::migrate::migrate;
use crate::moved::{FIND_MARK, REMOVE_MARK, SET_MARK, check_mark, host_name};
use crate::runtime::Runtime;
use crate::start_up::{check_notifications, check_server, configure};
use crate::text::{decode, encode};

const NONE: [&str; 0] = [];

/// A connection that copies a whole database.
pub struct CopyConnection {
    client: Client,
    settings: Settings,
}

impl CopyConnection {
    /// Connects.
    pub async fn open(settings: &Settings, runtime: &Runtime) -> Result<Self, StoreError> {
        let (client, connection) = settings.connect().await?;
        runtime.spawn(async move {
            // The client gets the error.
            let _ = connection.await;
        });
        configure(&client, settings).await?;
        // Between its statements and rows a copy reads or writes a file, which may take long. A copy that was stopped must not
        // hold the head for ever.
        let session = "SET idle_in_transaction_session_timeout = '10min'; SET tcp_user_timeout = '60s'";
        client.batch_execute(session).await.map_err(Fault::from)?;
        Ok(Self {
            client,
            settings: settings.clone(),
        })
    }

    /// Begins to read a snapshot of the database.
    pub async fn read(&mut self) -> Result<CopyTransaction<'_>, StoreError> {
        CopyTransaction::read(&mut self.client).await
    }

    /// Begins to fill the database with the newest schema. The server, which holds the store from now on, has to be as
    /// suitable as for a broker.
    pub async fn write(&mut self) -> Result<CopyTransaction<'_>, StoreError> {
        check_server(&self.client, &self.settings).await?;
        check_notifications(&self.client, &self.settings).await?;
        migrate(&mut self.client, &self.settings).await?;
        CopyTransaction::write(&mut self.client).await
    }

    /// Brings the schema up to date.
    pub async fn migrate(&mut self) -> Result<(), StoreError> {
        migrate(&mut self.client, &self.settings).await
    }

    /// Locks the database: no broker changes anything until the transaction ends.
    pub async fn lock(&mut self) -> Result<CopyTransaction<'_>, StoreError> {
        CopyTransaction::write(&mut self.client).await
    }

    /// Returns the identity of the database, after every transaction that may still be about to commit.
    pub async fn identity(&mut self) -> Result<Uuid, StoreError> {
        let locked = CopyTransaction::write(&mut self.client).await?;
        locked.one("SELECT identity FROM head").await
    }
}

impl fmt::Debug for CopyConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CopyConnection")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A transaction over a whole database, so that the copy is atomic.
pub struct CopyTransaction<'a>(Transaction<'a>);

impl fmt::Debug for CopyTransaction<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CopyTransaction").finish_non_exhaustive()
    }
}

impl<'a> CopyTransaction<'a> {
    /// Begins to read a snapshot of a database.
    pub(crate) async fn read(client: &'a mut Client) -> Result<Self, StoreError> {
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await
            .map_err(Fault::from)?;
        let database = Self(transaction);
        // A reader's connection, which writes a backup, has one for its pages.
        database.batch("SET LOCAL statement_timeout = 0").await?;
        Ok(database)
    }

    /// Begins to fill a database. No broker changes anything meanwhile.
    async fn write(client: &'a mut Client) -> Result<Self, StoreError> {
        let transaction = client.transaction().await.map_err(Fault::from)?;
        let database = Self(transaction);
        database.batch("SELECT 1 FROM head FOR UPDATE").await?;
        Ok(database)
    }

    /// Says whether no table has a row.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        for table in TABLES {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
            if self.one::<bool>(&sql).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says whether a broker has ever used it.
    pub async fn was_used(&self) -> Result<bool, StoreError> {
        self.one("SELECT EXISTS (SELECT 1 FROM brokers)").await
    }

    /// Returns the head as text, to compare it.
    pub async fn head(&self) -> Result<String, StoreError> {
        self.one("SELECT head::text FROM head").await
    }

    /// Returns the names of the brokers that use it.
    pub async fn brokers(&self) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT name FROM brokers WHERE NOT expelled AND lease_until > clock_timestamp() ORDER BY name";
        let rows = self.0.query(sql, &[]).await.map_err(Fault::from)?;
        let names = rows.iter().map(|row| row.try_get(0));
        Ok(names.collect::<Result<_, _>>().map_err(Fault::from)?)
    }

    /// Refuses a database whose content was moved to another place than this file.
    pub async fn check_not_moved(&self, location: &Path, file: &Path) -> Result<(), StoreError> {
        let mark = self.0.query_opt(FIND_MARK, &[]).await.map_err(Fault::from)?;
        check_mark(mark.as_ref(), location, Some(file)).map(drop)
    }

    /// Records that the content was moved into this file, and commits: brokers refuse the database from now on.
    pub async fn mark_moved(self, file: &Path) -> Result<(), StoreError> {
        let file = file.to_string_lossy();
        let marked = self.0.execute(SET_MARK, &[&host_name(), &file]).await;
        marked.map_err(Fault::from)?;
        Ok(self.0.commit().await.map_err(Fault::from)?)
    }

    /// Records that the content is in force here again, and commits.
    pub async fn remove_mark(self) -> Result<(), StoreError> {
        self.batch(REMOVE_MARK).await?;
        Ok(self.0.commit().await.map_err(Fault::from)?)
    }

    /// Removes all rows. The list of files is remembered.
    pub async fn clear(&self) -> Result<(), StoreError> {
        self.batch(
            "CREATE TEMP TABLE known_files ON COMMIT DROP AS SELECT upload_id, path, hash FROM uploads WHERE hash IS NOT NULL;
             DELETE FROM waits; DELETE FROM unindexed; DELETE FROM words",
        )
        .await?;
        for table in TABLES.iter().rev() {
            self.batch(&format!("DELETE FROM {}", table.name)).await?;
        }
        Ok(())
    }

    /// Visits all rows of a table, in its order.
    pub async fn visit<E: From<StoreError>>(
        &self,
        table: &Table,
        mut visit: impl FnMut(Vec<Value>) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error| StoreError::from(Fault::from(error));
        let sql = format!(
            "SELECT {} FROM {} ORDER BY {}",
            table.column_list(),
            table.name,
            table.order
        );
        let rows = self.0.query_raw(&sql, NONE).await.map_err(failed)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            let values = (0..row.len()).map(|column| row.try_get::<_, Option<ReceivedValue>>(column));
            let values = values.map(|value| value.map(|value| value.map_or(Value::Null, |read| read.0)));
            visit(values.collect::<Result<_, _>>().map_err(failed)?)?;
        }
        Ok(())
    }

    /// Returns the digest of a table.
    pub async fn digest(&self, table: &Table) -> Result<TableDigest, StoreError> {
        let mut digest = TableDigest::default();
        let add = |row: Vec<Value>| {
            digest.add(&row);
            Ok::<_, StoreError>(())
        };
        self.visit(table, add).await?;
        Ok(digest)
    }

    /// Adds rows.
    pub async fn insert(&self, table: &Table, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let written = async {
            let sql = format!(
                "COPY {} ({}) FROM STDIN (FORMAT binary)",
                table.name,
                table.column_list()
            );
            let sink = self.0.copy_in(&sql).await?;
            let types: Vec<Type> = table.columns.iter().map(|(_, kind)| type_of(*kind)).collect();
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
            for row in rows {
                let row: Vec<ColumnValue<'_>> = row.iter().map(ColumnValue).collect();
                let row: Vec<&(dyn ToSql + Sync)> = row.iter().map(|value| value as _).collect();
                writer.as_mut().write(&row).await?;
            }
            writer.finish().await.map(drop)
        };
        Ok(written.await.map_err(Fault::from)?)
    }

    /// Makes a table number its rows above this one.
    pub async fn set_last_number(&self, table: &Table, number: i64) -> Result<(), StoreError> {
        if number < 1 {
            return Ok(());
        }
        let (name, column) = (table.name, table.order);
        self.batch(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), {number})"
        ))
        .await
    }

    /// Returns the highest number that a table has assigned to a row.
    pub async fn last_number(&self, table: &Table) -> Result<i64, StoreError> {
        let (name, column) = (table.name, table.order);
        self.one(&format!(
            "SELECT greatest(coalesce((SELECT max({column}) FROM {name}), 0), coalesce(pg_sequence_last_value(
                 pg_get_serial_sequence('{name}', '{column}')::regclass), 0))"
        ))
        .await
    }

    /// Returns the number of the last event.
    pub async fn last_event(&self) -> Result<i64, StoreError> {
        self.one("SELECT event FROM head").await
    }

    /// Sets the number of the last event after all rows were added, and has every text indexed later.
    ///
    /// The database gets a new identity, so that brokers which use it already load everything again.
    pub async fn complete(&self, last_event: i64, identity: Uuid) -> Result<(), StoreError> {
        self.batch(&format!(
            "UPDATE head SET identity = '{identity}', event = {last_event}, revision = revision + 1, records = records + 1;
             {REMOVE_MARK};
             INSERT INTO unindexed (seq, side) SELECT seq, 0 FROM questions UNION ALL SELECT seq, 1 FROM decisions;
             NOTIFY cueme"
        ))
        .await
    }

    /// Commits the transaction.
    pub async fn commit(self) -> Result<(), StoreError> {
        // The server would plan the first queries for empty tables.
        self.batch("ANALYZE").await?;
        Ok(self.0.commit().await.map_err(Fault::from)?)
    }

    /// Reads one value.
    pub(super) async fn one<T: for<'r> FromSql<'r>>(&self, sql: &str) -> Result<T, StoreError> {
        let row = self.0.query_one(sql, &[]).await.map_err(Fault::from)?;
        Ok(row.try_get(0).map_err(Fault::from)?)
    }

    /// Runs statements.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.0.batch_execute(sql).await.map_err(Fault::from)?)
    }

    /// Returns the transaction.
    pub(super) fn transaction(&self) -> &Transaction<'a> {
        &self.0
    }
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Text => Type::TEXT,
        Kind::Number => Type::INT8,
        Kind::Flag => Type::BOOL,
        Kind::Bytes => Type::BYTEA,
        Kind::Uuid => Type::UUID,
    }
}

/// A value that is sent.
#[derive(Debug)]
struct ColumnValue<'a>(&'a Value);

impl ToSql for ColumnValue<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, of) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Number(number), &Type::BOOL) => (*number != 0).to_sql(of, out),
            (Value::Number(number), &Type::INT8) => number.to_sql(of, out),
            (Value::Text(text), &Type::TEXT) => encode(text).to_sql(of, out),
            (Value::Bytes(bytes), &Type::UUID) => Uuid::from_slice(bytes)?.to_sql(of, out),
            (Value::Bytes(bytes), &Type::BYTEA) => bytes.to_sql(of, out),
            (other, of) => Err(format!("{other:?} is no {of}").into()),
        }
    }

    accepts!(TEXT, INT8, BOOL, BYTEA, UUID);
    to_sql_checked!();
}

/// A value that was received.
struct ReceivedValue(Value);

impl<'a> FromSql<'a> for ReceivedValue {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::TEXT => Value::Text(decode(<&str>::from_sql(of, raw)?).into_owned()),
            Type::BOOL => Value::Number(i64::from(bool::from_sql(of, raw)?)),
            Type::UUID => Value::Bytes(Uuid::from_sql(of, raw)?.as_bytes().to_vec()),
            Type::BYTEA => Value::Bytes(raw.to_owned()),
            _ => Value::Number(i64::from_sql(of, raw)?),
        }))
    }

    accepts!(TEXT, INT8, BOOL, BYTEA, UUID);
}
