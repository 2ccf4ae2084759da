//! Reloads the configuration when its file changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::model::Config;
use super::parse::ConfigError;

/// The pause before an unreadable file is read again: its writer may not have finished.
const SETTLE: Duration = Duration::from_millis(100);

/// Keeps watching until it is dropped.
#[derive(Debug)]
pub struct ConfigWatch {
    _watcher: RecommendedWatcher,
}

/// Watches a configuration file and reports each new version, good or bad.
///
/// The folder is watched rather than the file, because editors replace files. A version equal to the last one is
/// not reported.
pub fn watch(
    path: &Path,
    mut report: impl FnMut(Result<Config, ConfigError>) + Send + 'static,
) -> Result<ConfigWatch, notify::Error> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    let mut last = std::fs::read(&path).ok();
    let file = path.clone();
    let mut watcher = notify::recommended_watcher(move |event: Result<Event, notify::Error>| {
        let concerns = event.is_ok_and(|event| {
            !matches!(event.kind, EventKind::Access(_))
                && event
                    .paths
                    .iter()
                    .any(|changed| changed.file_name() == file.file_name())
        });
        if !concerns {
            return;
        }
        let now = std::fs::read(&file).ok();
        // A file that is being replaced is absent or empty for a moment.
        if now.as_ref().is_none_or(Vec::is_empty) || now == last {
            return;
        }
        last = now;
        let mut loaded = Config::load(&file);
        if loaded.is_err() {
            // A program that writes the file in place may not have finished.
            std::thread::sleep(SETTLE);
            loaded = Config::load(&file);
            last = std::fs::read(&file).ok();
        }
        report(loaded);
    })?;
    watcher.watch(&folder, RecursiveMode::NonRecursive)?;
    Ok(ConfigWatch { _watcher: watcher })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_changed_file_is_reported_whether_good_or_bad_and_also_when_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("openclaw.json");
        std::fs::write(&path, "{}").unwrap();
        let (sender, receiver) = mpsc::channel();
        let _watch = watch(&path, move |result| {
            drop(sender.send(result.map(|config| config.models.len())))
        })
        .unwrap();
        let wait = || receiver.recv_timeout(Duration::from_secs(5)).unwrap();

        std::fs::write(&path, r#"{"models":{"a":{"command":"x"}}}"#).unwrap();
        assert_eq!(wait().unwrap(), 1);
        let next = folder.path().join("next");
        std::fs::write(&next, r#"{"models":3}"#).unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert!(matches!(wait(), Err(ConfigError::Invalid(_))));
    }
}
