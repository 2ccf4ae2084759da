//! Where a simulation keeps its state, through all crashes.

use cueme_store::Storage;
use cueme_store_postgres::PostgresStorage;
use cueme_store_sqlite::{SqliteStorage, Synchronous};
use cueme_test_kit::postgres::Server;
use tempfile::TempDir;

pub(crate) enum Place {
    Sqlite(TempDir),
    Postgres { server: &'static Server, url: String },
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        Some(Self::Postgres { server, url })
    }

    /// Says whether other brokers could be there, too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }

    /// Describes the storage to a broker that starts; the one before it is dead.
    pub(crate) fn storage(&self) -> Box<dyn Storage> {
        match self {
            Self::Sqlite(directory) => {
                let path = directory.path().join("cueme.db");
                Box::new(SqliteStorage::at(&path, Synchronous::Normal))
            }
            Self::Postgres { server, url } => {
                // Nobody waits for its lease to end.
                server.run(
                    url,
                    "DO $$ BEGIN IF to_regclass('brokers') IS NOT NULL THEN
                         UPDATE brokers SET lease_until = now() - interval '1 second'; END IF; END $$",
                );
                Box::new(PostgresStorage::at(url).unwrap())
            }
        }
    }
}
