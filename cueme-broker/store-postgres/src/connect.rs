//! The connection settings of the database: its URL, the password, TLS, timeouts.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cueme_store::{DatabaseFault, FaultKind, StoreError};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::fault::unreachable;
use crate::password::find_password;
use crate::tls::{Verification, client_config};

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The idle time before the system probes the connection with a keepalive …
const KEEPALIVE_AFTER: Duration = Duration::from_secs(5);
/// … the interval between probes …
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
/// … and the number of probes.
const KEEPALIVE_RETRIES: u32 = 3;
/// The time that sent data may stay unacknowledged before the connection counts as broken.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(15);
/// The default port.
const PORT: u16 = 5432;
/// The name of our connections in the server's lists.
const APPLICATION_NAME: &str = "cueme";

/// A connection whose protocol is driven by a task.
pub(crate) type Driven = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// The connection settings of a database.
#[derive(Clone)]
pub struct Settings {
    config: Config,
    tls: Arc<rustls::ClientConfig>,
    location: PathBuf,
}

impl Settings {
    /// Reads a URL, with the password from it, from `PGPASSWORD`, or from the file that `PGPASSFILE` names.
    ///
    /// `sslmode` is as everywhere: `disable`, `prefer` (the default) and `require` differ in encryption and do not
    /// verify the server; `verify-ca` checks its certificate, and `verify-full` its name, too. `sslrootcert` names a
    /// file of authorities that replaces those of the system, and makes `require` mean `verify-ca`.
    pub fn from_url(url: &str) -> Result<Self, StoreError> {
        Self::from_url_and_env(url, |name| std::env::var(name).ok())
    }

    fn from_url_and_env(url: &str, env: impl Fn(&str) -> Option<String>) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let mut config: Config = address
            .plain
            .parse()
            .map_err(|_| unusable("it is not a URL of PostgreSQL"))?;
        if config.get_hosts().is_empty() {
            return Err(unusable("it names no host"));
        }
        if config.get_dbname().is_none() {
            return Err(unusable("it names no database"));
        }
        if config.get_user().is_none() {
            config.user(env("PGUSER").unwrap_or_else(|| "cueme".into()));
        }
        let location = location(&config);
        if config.get_password().is_none()
            && let Some(password) = find_password(&config, PORT, &env)
        {
            config.password(password);
        }
        config
            .ssl_mode(address.ssl_mode)
            .application_name(APPLICATION_NAME)
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_AFTER)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES)
            .tcp_user_timeout(UNACKNOWLEDGED_MAX)
            // Of several servers in the URL, or behind its name, only the primary has everything.
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let tls = client_config(address.verification, address.root_file.as_deref()).map_err(|what| {
            StoreError::Database {
                doing: "configure TLS for",
                path: location.clone(),
                source: other(what),
            }
        })?;
        Ok(Self {
            config,
            tls: Arc::new(tls),
            location,
        })
    }

    /// Returns the database's name in errors: its URL without the password.
    pub fn location(&self) -> &Path {
        &self.location
    }

    /// Returns the configuration for a connection pool.
    pub(crate) fn parts(&self) -> (Config, MakeRustlsConnect) {
        (self.config.clone(), MakeRustlsConnect::new((*self.tls).clone()))
    }

    /// Connects; the caller has to drive the second part.
    pub(crate) async fn connect(&self) -> Result<(Client, Driven), StoreError> {
        let (config, tls) = self.parts();
        // The driver's own timeout covers the TCP connection alone; this one also covers a server that accepts it and
        // is silent.
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, config.connect(tls)).await;
        match connected {
            Ok(connected) => connected.map_err(|error| match is_read_only(&error) {
                true => StoreError::Unsuitable {
                    path: self.location.clone(),
                    what: "the server is a standby, or its transactions are read-only".into(),
                    remedy: "name the primary server in the URL, or turn default_transaction_read_only off for this user and database"
                        .into(),
                },
                false => unreachable(&self.location, &error),
            }),
            Err(_) => Err(StoreError::Database {
                doing: "connect to",
                path: self.location.clone(),
                source: DatabaseFault {
                    kind: FaultKind::Unreachable,
                    message: format!("there was no answer for {} s", CONNECT_TIMEOUT.as_secs()),
                },
            }),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

/// A URL, without the parameters that the driver does not know.
struct Address {
    plain: String,
    ssl_mode: SslMode,
    verification: Verification,
    root_file: Option<PathBuf>,
}

impl Address {
    fn parse(url: &str) -> Result<Self, StoreError> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(unusable("it does not begin with postgres://"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut mode = "prefer".to_owned();
        let mut root_file = None;
        let mut kept = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "sslmode" => mode = value.into_owned(),
                "sslrootcert" => root_file = Some(PathBuf::from(&*value)),
                _ => drop(kept.append_pair(&name, &value)),
            }
        }
        let kept = kept.finish();
        let (ssl_mode, verification) = match (mode.as_str(), &root_file) {
            ("disable", _) => (SslMode::Disable, Verification::None),
            ("allow" | "prefer", _) => (SslMode::Prefer, Verification::None),
            ("require", None) => (SslMode::Require, Verification::None),
            ("require" | "verify-ca", _) => (SslMode::Require, Verification::Authority),
            ("verify-full", _) => (SslMode::Require, Verification::Full),
            _ => {
                return Err(unusable(
                    "its sslmode is none of disable, prefer, require, verify-ca, verify-full",
                ));
            }
        };
        Ok(Self {
            plain: match kept.is_empty() {
                true => base.to_owned(),
                false => format!("{base}?{}", kept.replace('+', "%20")),
            },
            ssl_mode,
            verification,
            root_file,
        })
    }
}

/// Says whether the driver refused a server because it cannot be written.
fn is_read_only(error: &tokio_postgres::Error) -> bool {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<std::io::Error>());
    // An error of the system has a number; this one is the driver's own.
    source
        .is_some_and(|source| source.kind() == ErrorKind::PermissionDenied && source.raw_os_error().is_none())
}

fn location(config: &Config) -> PathBuf {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().copied().unwrap_or(PORT);
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or_default();
    PathBuf::from(format!("postgres://{user}@{host}:{port}/{database}"))
}

fn unusable(what: &str) -> StoreError {
    StoreError::Unsuitable {
        path: PathBuf::from("postgres://…"),
        what: what.to_owned(),
        remedy: "write it as postgres://user@host:5432/database?sslmode=verify-full".into(),
    }
}

fn other(message: String) -> DatabaseFault {
    DatabaseFault {
        kind: FaultKind::Other,
        message,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn settings(url: &str) -> Result<Settings, StoreError> {
        Settings::from_url_and_env(url, |_| None)
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        let found = settings("postgres://ada:hunter2@db.example:6432/inbox?sslmode=disable").unwrap();
        assert_eq!(found.config.get_password(), Some(b"hunter2".as_slice()));
        assert_eq!(
            found.location(),
            Path::new("postgres://ada@db.example:6432/inbox")
        );
        assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
        for wrong in [
            "postgres://ada:hunter2@db.example/inbox?sslmode=hunter2",
            "postgres://ada:hunter2@/inbox",
            "postgres://ada:hunter2@db.example",
            "postgres://ada:hunter2@db.example/inbox?unknown=hunter2",
            "postgres://ada:hunter2@db.example:port/inbox",
            "mysql://ada:hunter2@db.example/inbox",
        ] {
            let error = settings(wrong).unwrap_err();
            let said = format!("{error} {error:?} {:?}", error.hint());
            assert!(!said.contains("hunter2"), "{wrong}: {said}");
        }
    }

    #[test]
    fn the_environment_has_the_password_where_the_url_has_none() {
        let env = |name: &str| (name == "PGPASSWORD").then(|| "secret".to_owned());
        let password = |url| {
            let found = Settings::from_url_and_env(url, env).unwrap();
            found.config.get_password().map(<[u8]>::to_vec)
        };
        assert_eq!(
            password("postgres://ada@db/inbox").as_deref(),
            Some(b"secret".as_slice())
        );
        assert_eq!(
            password("postgres://ada:own@db/inbox").as_deref(),
            Some(b"own".as_slice())
        );
    }

    #[test]
    fn modes_of_tls_mean_what_they_mean_everywhere() {
        let of = |query: &str| {
            let found = Address::parse(&format!("postgres://ada@db/inbox{query}")).unwrap();
            (found.ssl_mode, found.verification)
        };
        assert_eq!(of(""), (SslMode::Prefer, Verification::None));
        assert_eq!(of("?sslmode=disable"), (SslMode::Disable, Verification::None));
        assert_eq!(of("?sslmode=require"), (SslMode::Require, Verification::None));
        assert_eq!(
            of("?sslmode=require&sslrootcert=/ca"),
            (SslMode::Require, Verification::Authority)
        );
        assert_eq!(
            of("?sslmode=verify-ca"),
            (SslMode::Require, Verification::Authority)
        );
        assert_eq!(of("?sslmode=verify-full"), (SslMode::Require, Verification::Full));
    }
}
