//! The side of a copy that is a PostgreSQL database: one transaction, so that it has all of it or nothing.

use std::error::Error;
use std::pin::pin;

use bytes::BytesMut;
use futures_util::TryStreamExt;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use tokio_postgres::{Client, IsolationLevel, Transaction};
use uuid::Uuid;

use super::CopyError;
use super::tables::{Kind, TABLES, Table, TableDigest, Value};
use crate::fault::Fault;
use crate::text::{decode, encode};

const NONE: [&str; 0] = [];

/// A transaction over a whole database.
pub(super) struct Database<'a>(Transaction<'a>);

impl<'a> Database<'a> {
    /// Looks at a database as it is now.
    pub(super) async fn read(client: &'a mut Client) -> Result<Self, CopyError> {
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await
            .map_err(Fault::from)?;
        Ok(Self(transaction))
    }

    /// Begins to fill a database. No broker changes anything meanwhile.
    pub(super) async fn write(client: &'a mut Client) -> Result<Self, CopyError> {
        let transaction = client.transaction().await.map_err(Fault::from)?;
        let database = Self(transaction);
        database.batch("SELECT 1 FROM head FOR UPDATE").await?;
        Ok(database)
    }

    /// Says whether no table has a row.
    pub(super) async fn is_empty(&self) -> Result<bool, CopyError> {
        for table in TABLES {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
            if self.one::<bool>(&sql).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the names of the brokers that use it.
    pub(super) async fn brokers(&self) -> Result<Vec<String>, CopyError> {
        let sql =
            "SELECT name FROM brokers WHERE NOT expelled AND lease_until > clock_timestamp() ORDER BY name";
        let rows = self.0.query(sql, &[]).await.map_err(Fault::from)?;
        let names = rows.iter().map(|row| row.try_get(0));
        Ok(names.collect::<Result<_, _>>().map_err(Fault::from)?)
    }

    /// Removes all rows, and makes the database another one than it was. Which files there are is remembered.
    pub(super) async fn clear(&self) -> Result<(), CopyError> {
        self.batch(
            "CREATE TEMP TABLE known_files ON COMMIT DROP AS SELECT upload_id, path, hash FROM uploads WHERE hash IS NOT NULL;
             DELETE FROM waits; DELETE FROM unindexed; DELETE FROM words",
        )
        .await?;
        for table in TABLES.iter().rev() {
            self.batch(&format!("DELETE FROM {}", table.name)).await?;
        }
        self.batch("UPDATE head SET identity = gen_random_uuid()").await
    }

    /// Visits all rows of a table, in its order.
    pub(super) async fn visit(
        &self,
        table: &Table,
        visit: &mut dyn FnMut(Vec<Value>) -> Result<(), CopyError>,
    ) -> Result<(), CopyError> {
        let sql = format!(
            "SELECT {} FROM {} ORDER BY {}",
            table.column_list(),
            table.name,
            table.order
        );
        let rows = self.0.query_raw(&sql, NONE).await.map_err(Fault::from)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(Fault::from)? {
            let values = (0..row.len()).map(|column| row.try_get::<_, Option<Value>>(column));
            let values = values.map(|value| value.map(|value| value.unwrap_or(Value::Null)));
            visit(values.collect::<Result<_, _>>().map_err(Fault::from)?)?;
        }
        Ok(())
    }

    /// Returns what a table has.
    pub(super) async fn digest(&self, table: &Table) -> Result<TableDigest, CopyError> {
        let mut digest = TableDigest::default();
        self.visit(table, &mut |row| {
            digest.add(&row);
            Ok(())
        })
        .await?;
        Ok(digest)
    }

    /// Adds rows.
    pub(super) async fn insert(&self, table: &Table, rows: &[Vec<Value>]) -> Result<(), CopyError> {
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
                let row: Vec<&(dyn ToSql + Sync)> = row.iter().map(|value| value as _).collect();
                writer.as_mut().write(&row).await?;
            }
            writer.finish().await.map(drop)
        };
        Ok(written.await.map_err(Fault::from)?)
    }

    /// Makes a table number its rows above this one.
    pub(super) async fn set_last_number(&self, table: &Table, number: i64) -> Result<(), CopyError> {
        if number < 1 {
            return Ok(());
        }
        let (name, column) = (table.name, table.order);
        self.batch(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), {number})"
        ))
        .await
    }

    /// Returns the highest number that a table has given to a row.
    pub(super) async fn last_number(&self, table: &Table) -> Result<i64, CopyError> {
        let (name, column) = (table.name, table.order);
        self.one(&format!(
            "SELECT greatest(coalesce((SELECT max({column}) FROM {name}), 0), coalesce(pg_sequence_last_value(
                 pg_get_serial_sequence('{name}', '{column}')::regclass), 0))"
        ))
        .await
    }

    /// Reads one value.
    pub(super) async fn one<T: for<'r> FromSql<'r>>(&self, sql: &str) -> Result<T, CopyError> {
        let row = self.0.query_one(sql, &[]).await.map_err(Fault::from)?;
        Ok(row.try_get(0).map_err(Fault::from)?)
    }

    /// Runs statements.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), CopyError> {
        Ok(self.0.batch_execute(sql).await.map_err(Fault::from)?)
    }

    /// Returns the transaction.
    pub(super) fn transaction(&self) -> &Transaction<'a> {
        &self.0
    }

    /// Makes it durable.
    pub(super) async fn commit(self) -> Result<(), CopyError> {
        Ok(self.0.commit().await.map_err(Fault::from)?)
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

impl ToSql for Value {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, of) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Number(number), &Type::BOOL) => (*number != 0).to_sql(of, out),
            (Self::Number(number), &Type::INT8) => number.to_sql(of, out),
            (Self::Text(text), &Type::TEXT) => encode(text).to_sql(of, out),
            (Self::Bytes(bytes), &Type::UUID) => Uuid::from_slice(bytes)?.to_sql(of, out),
            (Self::Bytes(bytes), &Type::BYTEA) => bytes.to_sql(of, out),
            (other, of) => Err(format!("{other:?} is no {of}").into()),
        }
    }

    accepts!(TEXT, INT8, BOOL, BYTEA, UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::TEXT => Self::Text(decode(<&str>::from_sql(of, raw)?).into_owned()),
            Type::BOOL => Self::Number(i64::from(bool::from_sql(of, raw)?)),
            Type::UUID => Self::Bytes(Uuid::from_sql(of, raw)?.as_bytes().to_vec()),
            Type::BYTEA => Self::Bytes(raw.to_owned()),
            _ => Self::Number(i64::from_sql(of, raw)?),
        })
    }

    accepts!(TEXT, INT8, BOOL, BYTEA, UUID);
}
