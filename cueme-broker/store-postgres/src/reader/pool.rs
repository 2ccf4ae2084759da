//! The connection pool of the reads; connections are made on demand.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cueme_store::{DatabaseFault, FaultKind, StoreError};
use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod,
    TimeoutType, Transaction,
};
use tokio::sync::mpsc;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, IsolationLevel, Row};

use super::Fault;
use crate::Settings;
use crate::copy::WriteBackup;
use crate::fault::{meaning_of, unreachable};
use crate::listen::drive;
use crate::runtime::Runtime;
use crate::start_up::configure;

/// The most connections that read at once.
const READERS_MAX: usize = 2;
/// The timeout for connecting, also to a server that accepts the connection and is silent.
const CREATE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a read waits for another one to return its connection.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Reads see committed state, and change nothing. None of them takes long, but checks and backups, which lift the timeout.
const SESSION: &str = "SET default_transaction_read_only = on; SET statement_timeout = '30s'";

/// Reads the database beside the engine.
#[derive(Debug)]
pub struct PostgresReader {
    pool: Pool,
    settings: Settings,
    runtime: Arc<Runtime>,
    location: PathBuf,
    pub(super) write_backup: WriteBackup,
    /// Held by a check or a backup: one of them at a time leaves a connection to the pages.
    long_read: Mutex<()>,
}

impl PostgresReader {
    /// Prepares reads; the first read connects.
    pub fn connect(settings: &Settings, runtime: Arc<Runtime>, write_backup: WriteBackup) -> Self {
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let (config, tls) = settings.parts();
        let configure = Hook::async_fn(|client: &mut ClientWrapper, _| {
            Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(Manager::from_config(config, tls, recycling))
            .max_size(READERS_MAX)
            .post_create(configure)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .create_timeout(Some(CREATE_TIMEOUT))
            .wait_timeout(Some(WAIT_TIMEOUT))
            .build();
        Self {
            // Building fails only where a timeout is set without a runtime.
            pool: pool.unwrap_or_else(|error| unreachable!("{error}")),
            settings: settings.clone(),
            runtime,
            location: settings.location().to_owned(),
            write_backup,
            long_read: Mutex::default(),
        }
    }

    /// Waits until no other check or backup runs.
    pub(super) fn begin_long_read(&self) -> MutexGuard<'_, ()> {
        self.long_read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads with one connection; retries once with a new one when the first turns out to be dead.
    pub(crate) fn read<T>(
        &self,
        work: impl AsyncFn(&mut Object) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let read = async || work(&mut self.client().await?).await;
        let result = self.runtime.block_on(async {
            match read().await {
                Err(fault) if is_of_connection(&fault) => {
                    self.pool.retain(|_, _| false);
                    read().await
                }
                result => result,
            }
        });
        Ok(result?)
    }

    /// Writes over a connection of its own, which takes none of those that read.
    pub(super) fn write_apart(
        &self,
        work: impl AsyncFn(&Client) -> Result<(), Fault>,
    ) -> Result<(), StoreError> {
        let written = self.runtime.block_on(async {
            let (client, connection) = self.settings.connect().await?;
            let (sender, _) = mpsc::unbounded_channel();
            self.runtime.spawn(drive(connection, sender));
            configure(&client, &self.settings).await?;
            work(&client).await
        });
        Ok(written?)
    }

    /// Reads one snapshot with several statements.
    pub(crate) fn read_snapshot<T>(
        &self,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.read(async |client| {
            let transaction = client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()
                .await?;
            let result = work(&transaction).await?;
            transaction.commit().await?;
            Ok(result)
        })
    }

    /// Returns the rows of one statement.
    pub(crate) fn rows(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        self.read(async |client| {
            let statement = client.prepare_cached(sql).await?;
            Ok(client.query(&statement, with).await?)
        })
    }

    /// Returns the first row of one statement.
    pub(crate) fn row(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(sql, with)?.into_iter().next())
    }

    async fn client(&self) -> Result<Object, Fault> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Fault::Store(unreachable(&self.location, &error))
            }
            PoolError::Timeout(TimeoutType::Wait) => self.unreachable(format!(
                "other reads took longer than {} s",
                WAIT_TIMEOUT.as_secs()
            )),
            PoolError::Timeout(_) => {
                self.unreachable(format!("there was no answer for {} s", CREATE_TIMEOUT.as_secs()))
            }
            other => self.unreachable(other.to_string()),
        })
    }

    fn unreachable(&self, message: String) -> Fault {
        Fault::Store(StoreError::Database {
            doing: "connect to",
            path: self.location.clone(),
            source: DatabaseFault {
                kind: FaultKind::Unreachable,
                message,
            },
        })
    }
}

/// Says whether another connection may succeed: this one is dead, or has prepared a statement before a migration.
fn is_of_connection(fault: &Fault) -> bool {
    let Fault::Postgres(error) = fault else {
        return false;
    };
    error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED) || meaning_of(error).kind == FaultKind::Unreachable
}
