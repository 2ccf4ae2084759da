//! Follows the configuration while a conversation runs.
//!
//! A new version is reported when it is written and used from the next turn on; a broken one is reported and the last
//! good one stays.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use adapter_core::config::{Config, ConfigError, ConfigWatch, watch};

use super::view::View;

/// The newest configuration that no turn has used yet.
#[derive(Debug, Default)]
pub(super) struct Reloads {
    newest: Arc<Mutex<Option<Config>>>,
    _watch: Option<ConfigWatch>,
}

impl Reloads {
    /// Starts to follow a file, which need not exist yet; its folder must, or nothing is followed.
    pub(super) fn of(file: &Path, view: View) -> Self {
        if !file.parent().is_some_and(Path::is_dir) {
            return Self::default();
        }
        let newest = Arc::new(Mutex::new(None));
        let (slot, name, told) = (Arc::clone(&newest), file.display().to_string(), view.clone());
        let report = move |loaded: Result<Config, ConfigError>| match loaded {
            Ok(config) => {
                told.remark(&format!("{name} has changed; the next turn uses it"));
                for warning in &config.warnings {
                    told.remark(&format!("warning: {name}: {warning}"));
                }
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(config);
            }
            Err(error) => told.remark(&format!(
                "warning: {name} is invalid; the last valid version stays in use: {error}"
            )),
        };
        let watching = watch(file, report);
        if let Err(error) = &watching {
            view.remark(&format!(
                "warning: could not watch {} for changes: {error}",
                file.display()
            ));
        }
        Self {
            newest,
            _watch: watching.ok(),
        }
    }

    /// Takes the configuration that came since the last call.
    pub(super) fn take(&self) -> Option<Config> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
