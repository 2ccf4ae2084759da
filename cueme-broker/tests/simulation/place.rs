//! The place of a simulation's state, through all crashes.

use std::cell::RefCell;

use cueme_store::Storage;
use cueme_store_copy::back_up;
use cueme_store_postgres::PostgresStorage;
use cueme_store_sqlite::{SqliteStorage, Synchronous};
use cueme_test_kit::postgres::{Server, Session};
use protocol_spec::time::Timestamp;
use tempfile::TempDir;

/// Makes the simulated clock that of the database: the server finds this function before its own.
const SIMULATED_CLOCK: &str = "
    CREATE SCHEMA simulated;
    CREATE TABLE simulated.clock AS SELECT timestamptz 'epoch' AS at;
    CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT at FROM simulated.clock';
    DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = simulated, pg_catalog, public', current_database());
    END $$;
    SET synchronous_commit = off";

pub(crate) enum Place {
    Sqlite(TempDir),
    Postgres { url: String, clock: RefCell<Clock> },
}

/// The clock of a database, set over a connection of its own.
pub(crate) struct Clock {
    session: Session,
    now: Timestamp,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Option<Self> {
        let server = Server::start()?;
        let url = server.database();
        let mut session = server.session(&url);
        session.run(SIMULATED_CLOCK);
        let now = Timestamp::from_millis(0);
        let clock = RefCell::new(Clock { session, now });
        Some(Self::Postgres { url, clock })
    }

    /// Sets the clock that brokers share, where they share one.
    pub(crate) fn set_clock(&self, now: Timestamp) {
        let Self::Postgres { clock, .. } = self else {
            return;
        };
        let clock = &mut *clock.borrow_mut();
        if std::mem::replace(&mut clock.now, now) != now {
            let set = format!(
                "UPDATE simulated.clock SET at = timestamptz 'epoch' + {} * interval '1 ms'",
                now.as_millis()
            );
            clock.session.run(&set);
        }
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
            Self::Postgres { url, clock } => {
                // Ends the leases, so that no broker waits for them.
                clock.borrow_mut().session.run(
                    "DO $$ BEGIN IF to_regclass('simulated.brokers') IS NOT NULL THEN
                         UPDATE simulated.brokers SET lease_until = simulated.clock_timestamp() - interval '1 second'; END IF; END $$",
                );
                Box::new(PostgresStorage::at(url, back_up).unwrap())
            }
        }
    }
}
