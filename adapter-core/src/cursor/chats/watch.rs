//! Reports chats that appear, change or disappear.
//!
//! The operating system's events only trigger a scan. The scan compares the chats' files with their last known state,
//! so lost, repeated and reordered events do no harm, and our own reading, which touches SQLite's shared-memory file,
//! is not mistaken for Cursor's writing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use serde::Serialize;

use super::catalog::{ChatsRoot, STORE_FILE, subdirectories};
use super::error::ChatsError;

/// The debounce time: files must be unchanged for this long before they are read.
const QUIET: Duration = Duration::from_millis(150);
/// The longest delay for a chat that never stops changing.
const QUIET_MAX: Duration = Duration::from_secs(1);

/// Something that happened to a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatEvent {
    /// The change.
    pub change: Change,
    /// The directory of the chat's project.
    pub project_id: String,
    /// The chat.
    pub chat_id: String,
    /// Its store.
    pub path: PathBuf,
}

/// A change of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// Something was written to it.
    Changed,
    /// It is gone.
    Removed,
}

/// Watches until dropped.
#[derive(Debug)]
pub struct ChatWatcher {
    wake: Sender<Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ChatWatcher {
    fn drop(&mut self) {
        // A thread that is already gone has nothing left to stop.
        let _ = self.wake.send(Wake::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts to watch, and calls `report` from another thread for each change after this call.
///
/// # Errors
///
/// Fails if neither the chats' directory nor one above it can be watched.
pub fn watch_chats(
    root: &ChatsRoot,
    report: impl FnMut(ChatEvent) + Send + 'static,
) -> Result<ChatWatcher, ChatsError> {
    let (wake, woken) = mpsc::channel();
    let watched = Watched::start(root.dir(), &wake)?;
    let seen = look(root);
    let mut looker = Looker {
        root: root.clone(),
        watched,
        wake: wake.clone(),
        seen,
        report,
    };
    let thread = thread::Builder::new()
        .name("chat-watcher".to_owned())
        .spawn(move || looker.run(&woken))
        .map_err(|source| ChatsError::Io {
            attempt: "watch",
            path: root.dir().to_owned(),
            source,
        })?;
    Ok(ChatWatcher {
        wake,
        thread: Some(thread),
    })
}

enum Wake {
    Look,
    Stop,
}

/// A running watch on the chats' directory or, while that does not exist, on the nearest one above it.
struct Watched {
    dir: PathBuf,
    is_root: bool,
    _watcher: RecommendedWatcher,
}

impl Watched {
    fn start(root: &Path, wake: &Sender<Wake>) -> Result<Self, ChatsError> {
        let dir = root.ancestors().find(|dir| dir.is_dir()).unwrap_or(root);
        let is_root = dir == root;
        let error = |source| ChatsError::Watch {
            path: dir.to_owned(),
            source,
        };
        let wake = wake.clone();
        let mut watcher = notify::recommended_watcher(move |_| {
            // If the channel is closed, the watch has ended.
            let _ = wake.send(Wake::Look);
        })
        .map_err(error)?;
        let mode = if is_root {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        watcher.watch(dir, mode).map_err(error)?;
        Ok(Watched {
            dir: dir.to_owned(),
            is_root,
            _watcher: watcher,
        })
    }

    /// Tells whether the directory to watch is another one by now.
    fn is_stale(&self, root: &Path) -> bool {
        !self.dir.is_dir() || (!self.is_root && root.ancestors().find(|dir| dir.is_dir()) != Some(&self.dir))
    }
}

struct Looker<F> {
    root: ChatsRoot,
    watched: Watched,
    wake: Sender<Wake>,
    seen: Seen,
    report: F,
}

impl<F: FnMut(ChatEvent)> Looker<F> {
    fn run(&mut self, woken: &Receiver<Wake>) {
        while wait_for_quiet(woken) {
            if self.watched.is_stale(self.root.dir()) {
                match Watched::start(self.root.dir(), &self.wake) {
                    Ok(watched) => self.watched = watched,
                    Err(error) => tracing::warn!(%error, "chats are no longer watched"),
                }
            }
            let now = look(&self.root);
            for event in differences(&self.seen, &now) {
                (self.report)(event);
            }
            self.seen = now;
        }
    }
}

/// Waits for events, then for their end. Returns whether to look; not if the watch is over.
fn wait_for_quiet(woken: &Receiver<Wake>) -> bool {
    match woken.recv() {
        Ok(Wake::Look) => {}
        Ok(Wake::Stop) | Err(_) => return false,
    }
    let started = Instant::now();
    while started.elapsed() < QUIET_MAX {
        match woken.recv_timeout(QUIET) {
            Ok(Wake::Look) => {}
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => return true,
        }
    }
    true
}

/// The chats' stores and how each file looked.
type Seen = BTreeMap<PathBuf, Stamp>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    store: FileStamp,
    log: Option<FileStamp>,
}

type FileStamp = (u64, Option<SystemTime>);

fn look(root: &ChatsRoot) -> Seen {
    let projects = subdirectories(root.dir()).unwrap_or_default();
    let chats = projects
        .iter()
        .flat_map(|project| subdirectories(project).unwrap_or_default());
    chats
        .map(|chat| chat.join(STORE_FILE))
        .filter_map(|store| Some((store.clone(), stamp(&store)?)))
        .collect()
}

fn stamp(store: &Path) -> Option<Stamp> {
    let log = file_stamp(&store.with_extension("db-wal"));
    // SQLite creates an empty log for readers, which says nothing about writers.
    Some(Stamp {
        store: file_stamp(store)?,
        log: log.filter(|(bytes, _)| *bytes > 0),
    })
}

fn file_stamp(path: &Path) -> Option<FileStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

fn differences(before: &Seen, now: &Seen) -> Vec<ChatEvent> {
    let changed = now.iter().filter_map(|(path, stamp)| match before.get(path) {
        None => Some((Change::Created, path)),
        Some(earlier) if earlier != stamp => Some((Change::Changed, path)),
        Some(_) => None,
    });
    let removed = before
        .keys()
        .filter(|path| !now.contains_key(*path))
        .map(|path| (Change::Removed, path));
    changed
        .chain(removed)
        .filter_map(|(change, path)| event(change, path))
        .collect()
}

fn event(change: Change, path: &Path) -> Option<ChatEvent> {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let chat = path.parent()?;
    Some(ChatEvent {
        change,
        project_id: name(chat.parent()?)?,
        chat_id: name(chat)?,
        path: path.to_owned(),
    })
}
