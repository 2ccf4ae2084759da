//! The location of the state: in a file of this machine, or in a database that brokers share.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use thiserror::Error;

/// The variable that overrides the configuration.
const VARIABLE: &str = "CUEME_STORE";

/// The address of a shared store. It may hold a password, so it is never shown whole.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// Returns the address with the password.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StoreUrl(…)")
    }
}

/// The reason why the location of the state is unknown.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// The configuration cannot be read, and may name a shared store.
    #[error("could not read {}, so the store is unknown: {what}", path.display())]
    Unknown {
        /// The configuration.
        path: std::path::PathBuf,
        /// The error.
        what: String,
    },
    /// The address is of no supported kind.
    #[error("the store in {place} is not supported; write `store = \"postgres://user@host/database\"`")]
    Kind {
        /// The place in which it was found.
        place: String,
    },
}

/// Finds the address of the shared store; `None` if the state is in a file of this machine.
///
/// A mistake elsewhere in the configuration does not matter here: the rest of it has its defaults then, but a broker must
/// never open another inbox than the one that was meant.
pub fn shared_store(config: &Path) -> Result<Option<StoreUrl>, PlaceError> {
    let variable = std::env::var(VARIABLE).ok().filter(|url| !url.trim().is_empty());
    let (url, place) = match variable {
        Some(url) => (url, VARIABLE.to_owned()),
        None => match in_configuration(config)? {
            Some(url) => (url, config.display().to_string()),
            None => return Ok(None),
        },
    };
    let url = url.trim();
    match url {
        "sqlite" => Ok(None),
        _ if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Ok(Some(StoreUrl(url.to_owned())))
        }
        _ => Err(PlaceError::Kind { place }),
    }
}

fn in_configuration(path: &Path) -> Result<Option<String>, PlaceError> {
    let unknown = |what: String| PlaceError::Unknown {
        path: path.to_owned(),
        what,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unknown(error.to_string())),
    };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        // Without the word there is nothing to be mistaken about.
        Err(_) if !text.contains("store") => return Ok(None),
        Err(error) => {
            let error: toml::de::Error = error;
            return Err(unknown(error.message().to_owned()));
        }
    };
    match table.get("store") {
        None => Ok(None),
        Some(toml::Value::String(url)) => Ok(Some(url.clone())),
        Some(_) => Err(PlaceError::Kind {
            place: path.display().to_string(),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Option<String>, PlaceError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        in_configuration(&path)
    }

    #[test]
    fn a_mistake_elsewhere_in_the_configuration_does_not_open_another_inbox() {
        let url = "postgres://cueme@db/inbox";
        let named = format!("store = \"{url}\"\nlisten = 7\nno_such_key = true\n");
        assert_eq!(found(&named).unwrap().as_deref(), Some(url));
        assert!(matches!(
            found(&format!("store = \"{url}\"\n[[[")),
            Err(PlaceError::Unknown { .. })
        ));
        assert_eq!(found("listen = [[[").unwrap(), None);
        assert_eq!(found("").unwrap(), None);
        assert!(matches!(found("store = 7"), Err(PlaceError::Kind { .. })));
    }

    #[test]
    fn the_password_is_in_no_debug_output() {
        let url = StoreUrl("postgres://cueme:hunter2@db/inbox".into());
        assert!(!format!("{url:?}").contains("hunter2"));
    }
}
