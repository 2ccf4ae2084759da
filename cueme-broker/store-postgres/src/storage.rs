//! The location of the database, and the identity of this broker among those that share it.

use std::path::PathBuf;
use std::sync::Arc;

use cueme_store::{Leadership, Reader, Storage, Store, StoreError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::connect::Settings;
use crate::copy::WriteBackup;
use crate::fault::failed;
use crate::listen::{Listener, drive};
use crate::migrate::{SCHEMA, migrate};
use crate::reader::PostgresReader;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::start_up::{check_notifications, check_server, configure};
use crate::store::PostgresStore;

/// A database that brokers share.
#[derive(Debug)]
pub struct PostgresStorage {
    settings: Settings,
    runtime: Arc<Runtime>,
    shared: Arc<Shared>,
    /// Whether notifications are known to arrive.
    is_probed: bool,
    listener: Option<JoinHandle<()>>,
    write_backup: WriteBackup,
}

/// The engine's statements are planned once, perhaps for a table that is still empty, and have to stay quick when it is not. A
/// scan that remains counts as so expensive that the server would compile it each time.
pub(crate) const BY_INDEX: &str = "SET enable_seqscan = off; SET jit = off";

impl PostgresStorage {
    /// Describes the database at a URL, without connecting, and how a backup of it is written.
    pub fn at(url: &str, write_backup: WriteBackup) -> Result<Self, StoreError> {
        let settings = Settings::from_url(url)?;
        let runtime = Runtime::start().map_err(|source| StoreError::Io {
            doing: "start a thread for",
            path: settings.location().to_owned(),
            source,
        })?;
        let shared = Shared::new(settings.location().to_owned(), None);
        Ok(Self {
            settings,
            runtime: Arc::new(runtime),
            shared,
            is_probed: false,
            listener: None,
            write_backup,
        })
    }

    /// Names the file that has the inbox of this machine when no database is configured: an unfinished move into it does not
    /// refuse this broker.
    pub fn instead_of(mut self, file: PathBuf) -> Self {
        self.shared = Shared::new(self.shared.location.clone(), Some(file));
        self
    }

    async fn connect(&self) -> Result<Client, StoreError> {
        let (mut client, connection) = self.settings.connect().await?;
        let (sender, _) = mpsc::unbounded_channel();
        self.runtime.spawn(drive(connection, sender));
        configure(&client, &self.settings).await?;
        check_server(&client, &self.settings).await?;
        if !self.is_probed {
            check_notifications(&client, &self.settings).await?;
        }
        migrate(&mut client, &self.settings).await?;
        let failed = failed("configure", self.settings.location());
        client.batch_execute(BY_INDEX).await.map_err(failed)?;
        Ok(client)
    }
}

impl Storage for PostgresStorage {
    fn open(&mut self, _was_clean: bool) -> Result<Box<dyn Store>, StoreError> {
        let client = self.runtime.block_on(self.connect())?;
        self.is_probed = true;
        let store = PostgresStore::new(client, Arc::clone(&self.runtime), Arc::clone(&self.shared));
        store.enter()?;
        Ok(Box::new(store))
    }

    fn reader(&self) -> Arc<dyn Reader> {
        let runtime = Arc::clone(&self.runtime);
        Arc::new(PostgresReader::connect(
            &self.settings,
            runtime,
            self.write_backup,
        ))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn listen(&mut self, wake: Box<dyn Fn() + Send + Sync>) {
        if let Some(earlier) = self.listener.take() {
            earlier.abort();
        }
        let listener = Listener {
            settings: self.settings.clone(),
            shared: Arc::clone(&self.shared),
            wake,
        };
        self.listener = Some(self.runtime.spawn(listener.run()));
    }

    fn leadership(&self) -> Leadership {
        self.shared.leadership.clone()
    }

    fn schema(&self) -> u32 {
        SCHEMA
    }

    fn location(&self) -> PathBuf {
        self.settings.location().to_owned()
    }

    fn is_full(&self) -> bool {
        false
    }

    fn use_reserve(&mut self) -> bool {
        false
    }

    fn regain_reserve(&mut self) -> bool {
        true
    }
}

impl Drop for PostgresStorage {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.abort();
        }
        self.shared.leadership.stop();
    }
}
