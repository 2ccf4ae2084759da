//! The place of a test's state: each behaviour is tried on every store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cueme_store::{Reader, Storage};
use cueme_store_copy::back_up;
use cueme_store_postgres::PostgresStorage;
use cueme_store_sqlite::{SqliteReader, SqliteStorage, Synchronous};
use cueme_test_kit::postgres::{Server, Session};
use tempfile::TempDir;

use crate::Little;

/// Lets every lease end, where there is a schema already.
const END_LEASES: &str = "DO $$ BEGIN IF to_regclass('brokers') IS NOT NULL THEN
    UPDATE brokers SET lease_until = now() - interval '1 second'; END IF; END $$";

/// Something that can be opened, again and again.
pub(crate) trait Place {
    fn storage(&self) -> Box<dyn Storage>;
    fn reader(&self) -> Arc<dyn Reader>;
}

/// Tries each test on every store.
macro_rules! on_every_store {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test(&crate::place::AnyPlace::sqlite());
            })*
        }

        mod postgres {
            $(#[test]
            fn $test() {
                if let Some(place) = crate::place::AnyPlace::postgres() {
                    super::$test(&place);
                }
            })*
        }
    };
}
pub(crate) use on_every_store;

pub(crate) enum AnyPlace {
    Sqlite(TempDir),
    Postgres {
        server: &'static Server,
        url: String,
        reader: Arc<dyn Reader>,
    },
}

impl AnyPlace {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        let reader = PostgresStorage::at(&url, back_up).unwrap().reader();
        Some(Self::Postgres { server, url, reader })
    }

    /// Opens another broker, while those that are there live.
    pub(crate) fn open_beside(&self, wall_ms: i64) -> Little {
        let Self::Postgres { url, .. } = self else {
            panic!("one broker at a time")
        };
        Little::open_on(Box::new(PostgresStorage::at(url, back_up).unwrap()), wall_ms).unwrap()
    }

    /// Lets the lease of every broker end now.
    pub(crate) fn end_leases(&self) {
        if let Self::Postgres { server, url, .. } = self {
            server.run(url, END_LEASES);
        }
    }

    /// Runs statements beside every broker.
    pub(crate) fn run_beside(&self, sql: &str) -> String {
        match self {
            Self::Postgres { server, url, .. } => server.run(url, sql),
            Self::Sqlite(directory) => {
                let database = rusqlite::Connection::open(directory.path().join("cueme.db")).unwrap();
                database.execute_batch(sql).unwrap();
                String::new()
            }
        }
    }

    /// Opens a connection beside every broker, which stays open.
    pub(crate) fn session(&self) -> Session {
        let Self::Postgres { server, url, .. } = self else {
            panic!("a file has one writer")
        };
        server.session(url)
    }

    /// Returns the address of the database.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Postgres { url, .. } => url,
            Self::Sqlite(_) => panic!("a file has a path"),
        }
    }

    /// Ends every connection to the database from the server's side.
    pub(crate) fn cut_connections(&self) {
        self.run_beside(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    }

    /// Says whether other brokers could be there, too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }
}

impl Place for AnyPlace {
    fn storage(&self) -> Box<dyn Storage> {
        match self {
            Self::Sqlite(directory) => directory.path().join("cueme.db").storage(),
            Self::Postgres { server, url, .. } => {
                // Brokers of this test that were dropped before count as dead at once.
                server.run(url, END_LEASES);
                Box::new(PostgresStorage::at(url, back_up).unwrap())
            }
        }
    }

    fn reader(&self) -> Arc<dyn Reader> {
        match self {
            Self::Sqlite(directory) => directory.path().join("cueme.db").reader(),
            Self::Postgres { reader, .. } => Arc::clone(reader),
        }
    }
}

impl Place for Path {
    fn storage(&self) -> Box<dyn Storage> {
        Box::new(SqliteStorage::at(self, Synchronous::Full))
    }

    fn reader(&self) -> Arc<dyn Reader> {
        Arc::new(SqliteReader::new(self))
    }
}

impl Place for PathBuf {
    fn storage(&self) -> Box<dyn Storage> {
        self.as_path().storage()
    }

    fn reader(&self) -> Arc<dyn Reader> {
        self.as_path().reader()
    }
}
