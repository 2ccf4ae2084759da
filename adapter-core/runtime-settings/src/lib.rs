//! The `[runtime.NAME]` sections of the configuration.
//!
//! A crate of its own, so that a client that waits learns how long without the broker's code. It reads these sections alone: a
//! mistake anywhere else in the file is the broker's to report, and keeps no agent from its settings.

mod duration;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

pub use duration::{optional_duration, parse_duration};

/// The keys of `[runtime.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeConfig {
    /// Duration that one call may wait; `0` means no limit.
    ///
    /// Default: a little below the runtime's own limit.
    #[serde(deserialize_with = "optional_duration")]
    pub wait: Option<Duration>,
    /// Language in which cueme addresses its agents: `"en"` or `"zh"`. `cueme init` writes it with the rule.
    ///
    /// Default: `"en"`.
    pub language: Option<AgentLanguage>,
}

/// A language in which cueme addresses agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentLanguage {
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

/// The reason why a configuration is not used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is there but cannot be read.
    #[error("could not read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not TOML, or a key or value is wrong.
    #[error("{} is not a valid configuration: {}", path.display(), source.to_string().trim_end())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The place and the problem.
        source: Box<toml::de::Error>,
    },
}

/// Reads the section of a runtime; without a file or a section, nothing is set.
pub fn load(path: &Path, runtime: &str) -> Result<RuntimeConfig, ConfigError> {
    #[derive(Default, Deserialize)]
    struct Sections {
        #[serde(default)]
        runtime: BTreeMap<String, RuntimeConfig>,
    }
    let mut sections: Sections = read(path)?;
    Ok(sections.runtime.remove(runtime).unwrap_or_default())
}

/// Reads a file of TOML; without one, the defaults apply.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).map_err(|source| ConfigError::Parse {
            path: path.to_owned(),
            source: Box::new(source),
        }),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(source) => Err(ConfigError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_elsewhere_keeps_no_runtime_from_its_settings() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        assert_eq!(load(&path, "cursor").unwrap(), RuntimeConfig::default());
        let text = "no_such_key = true\nlisten = 7\n[runtime.cursor]\nwait = 25\nlanguage = \"zh\"\n";
        std::fs::write(&path, text).unwrap();
        let found = load(&path, "cursor").unwrap();
        assert_eq!(found.wait, Some(Duration::from_secs(25)));
        assert_eq!(found.language, Some(AgentLanguage::Zh));
        assert_eq!(load(&path, "codex").unwrap(), RuntimeConfig::default());
        std::fs::write(&path, "\n[runtime.cursor]\nwait = \"soon\"\n").unwrap();
        let error = load(&path, "cursor").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("12h"), "{error}");
    }
}
