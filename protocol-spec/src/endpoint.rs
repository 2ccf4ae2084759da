//! The paths of an installation, as a pure function of the environment.

use crate::hex::hex;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::visible::quoted;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The longest socket path every supported system takes, in bytes (macOS: 104 with the final NUL).
pub const SOCKET_PATH_BYTES_MAX: usize = 103;

/// The variables from which the paths are computed.
#[derive(Debug, Clone)]
pub struct Environment<F> {
    /// Looks up an environment variable.
    pub variable: F,
    /// The user the program runs as.
    pub uid: u32,
    /// Whether the platform keeps its files the way macOS does.
    pub is_macos: bool,
}

/// Why no place could be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// Neither `CUEME_HOME` nor `HOME` is set.
    #[error("neither CUEME_HOME nor HOME is set, so there is no place for cueme's data")]
    NoHome,
    /// A relative path would mean another place in each directory.
    #[error("{variable} is {}, which is not an absolute path", quoted(&.path.to_string_lossy()))]
    Relative {
        /// The variable at fault.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
}

/// All paths of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The database and what belongs to it; apart from the configuration, whose directory is watched for changes.
    pub data_dir: PathBuf,
    /// The directory of the socket; other users have no access.
    pub socket_dir: PathBuf,
    /// The configuration file.
    pub config: PathBuf,
    /// Log files.
    pub log_dir: PathBuf,
}

/// The variables that move the places, each alone; `CUEME_HOME` overrides the others.
pub const VARIABLES: [&str; 5] = [
    HOME_VARIABLE,
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];

/// The variable that moves all places at once.
pub const HOME_VARIABLE: &str = "CUEME_HOME";

impl Places {
    /// Computes the places: everything under `CUEME_HOME` when that is set, else the platform's own directories.
    pub fn find<F>(environment: &Environment<F>) -> Result<Self, EndpointError>
    where
        F: Fn(&str) -> Option<OsString>,
    {
        if let Some(home) = absolute(environment, HOME_VARIABLE)? {
            return Ok(Self {
                socket_dir: short_enough(&home, &home, environment.uid),
                ..Self::below(&home)
            });
        }
        let home = absolute(environment, "HOME")?.ok_or(EndpointError::NoHome)?;
        if environment.is_macos {
            let support = home.join("Library/Application Support/cueme");
            return Ok(Self {
                socket_dir: short_enough(&support, &support, environment.uid),
                config: support.join("config.toml"),
                log_dir: home.join("Library/Logs/cueme"),
                data_dir: support.join("data"),
            });
        }
        let base = |variable, fallback: &str| -> Result<PathBuf, EndpointError> {
            Ok(absolute(environment, variable)?
                .unwrap_or_else(|| home.join(fallback))
                .join("cueme"))
        };
        let data_dir = base("XDG_DATA_HOME", ".local/share")?;
        let socket_dir = match absolute(environment, "XDG_RUNTIME_DIR")? {
            Some(runtime) => short_enough(&runtime.join("cueme"), &data_dir, environment.uid),
            None => short_enough(&data_dir, &data_dir, environment.uid),
        };
        Ok(Self {
            socket_dir,
            config: base("XDG_CONFIG_HOME", ".config")?.join("config.toml"),
            log_dir: base("XDG_STATE_HOME", ".local/state")?,
            data_dir,
        })
    }

    /// Returns the places below one directory, whose path is short enough for a socket.
    pub fn below(home: &Path) -> Self {
        Self {
            data_dir: home.join("data"),
            socket_dir: home.to_owned(),
            config: home.join("config.toml"),
            log_dir: home.join("logs"),
        }
    }

    /// Returns the socket the broker listens on.
    pub fn socket(&self) -> PathBuf {
        self.socket_dir.join(SOCKET_NAME)
    }

    /// Returns the file whose lock makes a broker the only one of its data directory.
    pub fn lock(&self) -> PathBuf {
        self.data_dir.join("broker.lock")
    }

    /// Returns the file whose lock makes one client at a time start a broker.
    pub fn start_lock(&self) -> PathBuf {
        self.data_dir.join("start.lock")
    }

    /// Returns the database.
    pub fn database(&self) -> PathBuf {
        self.data_dir.join("cueme.db")
    }

    /// Returns the file that records which executable last served the database.
    pub fn record(&self) -> PathBuf {
        self.data_dir.join("broker.json")
    }

    /// Returns the directory of files that were uploaded with answers.
    pub fn attachments(&self) -> PathBuf {
        self.data_dir.join("attachments")
    }

    /// Returns the broker's log file.
    pub fn log(&self) -> PathBuf {
        self.log_dir.join("broker.log")
    }
}

const SOCKET_NAME: &str = "broker.sock";

fn absolute<F>(environment: &Environment<F>, variable: &'static str) -> Result<Option<PathBuf>, EndpointError>
where
    F: Fn(&str) -> Option<OsString>,
{
    match (environment.variable)(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
    {
        Some(path) if path.is_absolute() => Ok(Some(path)),
        Some(path) => Err(EndpointError::Relative { variable, path }),
        None => Ok(None),
    }
}

/// Returns `wanted` if a socket fits there, else a directory in `/tmp` named after the user and the data directory.
///
/// The operating system cuts socket paths at about a hundred bytes, and a home in a deep directory is no reason to
/// fail. The broker checks the owner and mode of whichever directory it is.
fn short_enough(wanted: &Path, data_dir: &Path, uid: u32) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    if wanted.as_os_str().len() + 1 + SOCKET_NAME.len() <= SOCKET_PATH_BYTES_MAX {
        return wanted.to_owned();
    }
    let digest = Sha256::digest(data_dir.as_os_str().as_bytes());
    let name = hex(&digest[..8]);
    PathBuf::from(format!("/tmp/cueme-{uid}-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(pairs: &[(&str, &str)], is_macos: bool) -> Result<Places, EndpointError> {
        let variable = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        };
        Places::find(&Environment {
            variable,
            uid: 7,
            is_macos,
        })
    }

    #[test]
    fn cueme_home_holds_everything() {
        let places = places(&[("CUEME_HOME", "/x"), ("HOME", "/home/a")], false).unwrap();
        assert_eq!(places.socket(), Path::new("/x/broker.sock"));
        assert_eq!(places.database(), Path::new("/x/data/cueme.db"));
        assert_eq!(places.config, Path::new("/x/config.toml"));
        assert_eq!(places.log(), Path::new("/x/logs/broker.log"));
    }

    #[test]
    fn linux_uses_the_xdg_directories_and_their_defaults() {
        let plain = places(&[("HOME", "/home/a")], false).unwrap();
        assert_eq!(plain.database(), Path::new("/home/a/.local/share/cueme/cueme.db"));
        assert_eq!(
            plain.socket(),
            Path::new("/home/a/.local/share/cueme/broker.sock")
        );
        assert_eq!(plain.config, Path::new("/home/a/.config/cueme/config.toml"));
        let xdg = places(&[("HOME", "/home/a"), ("XDG_RUNTIME_DIR", "/run/user/7")], false).unwrap();
        assert_eq!(xdg.socket(), Path::new("/run/user/7/cueme/broker.sock"));
    }

    #[test]
    fn macos_uses_the_library() {
        let places = places(&[("HOME", "/Users/a")], true).unwrap();
        assert_eq!(
            places.database(),
            Path::new("/Users/a/Library/Application Support/cueme/data/cueme.db")
        );
        assert_eq!(places.log_dir, Path::new("/Users/a/Library/Logs/cueme"));
    }

    #[test]
    fn a_home_too_deep_for_a_socket_gets_a_short_one_of_its_own() {
        let deep = format!("/{}", "d".repeat(120));
        let one = places(&[("CUEME_HOME", &deep)], false).unwrap();
        let other = places(&[("CUEME_HOME", &format!("{deep}e"))], false).unwrap();
        assert!(one.socket().as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
        assert!(one.socket_dir.starts_with("/tmp"));
        assert_ne!(one.socket_dir, other.socket_dir);
        assert_eq!(one.database(), Path::new(&deep).join("data/cueme.db"));
    }

    #[test]
    fn a_relative_home_is_refused_by_name() {
        let error = places(&[("CUEME_HOME", "here")], false).unwrap_err();
        assert!(error.to_string().contains("CUEME_HOME"), "{error}");
        assert_eq!(places(&[], false).unwrap_err(), EndpointError::NoHome);
    }
}
