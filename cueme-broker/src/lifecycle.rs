//! Makes this process the only broker of its data directory, and leaves the files as the next broker needs them.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::file_id::FileId;

/// The time that a new broker waits for a retiring one to release the lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// The reason why this process cannot be the broker.
#[derive(Debug, Error)]
pub enum LifecycleError {
    /// A file or directory could not be used.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// The attempted operation.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user owns the directory, or has access to it.
    #[error("{} is not safe: {why}", path.display())]
    Unsafe {
        /// The directory.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// Another broker holds the lock.
    #[error("another broker is running on {} (it holds {})", data_dir.display(), lock.display())]
    AlreadyRunning {
        /// The data directory.
        data_dir: PathBuf,
        /// The lock file.
        lock: PathBuf,
    },
}

/// The lock that makes this process the only broker of its data directory; held until dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock, waiting a while for a broker that is about to end.
    pub fn take(places: &Places) -> Result<Self, LifecycleError> {
        let path = places.lock();
        let failed = |doing| {
            let path = path.clone();
            move |source| LifecycleError::Io { doing, path, source }
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed("open the lock file"))?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, path }),
                Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE && !is_served(places) => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LifecycleError::AlreadyRunning {
                        data_dir: places.data_dir.clone(),
                        lock: path,
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
            }
        }
    }
}

impl Lock {
    /// Says whether the lock is still at the path where others look for it.
    ///
    /// It is not once somebody has moved or deleted the data directory; then another broker may already serve there.
    pub(crate) fn is_in_place(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|held| FileId::of(&self.path) == Some(FileId::from(&held)))
    }
}

/// Says whether a process accepts connections on the socket.
fn is_served(places: &Places) -> bool {
    std::os::unix::net::UnixStream::connect(places.socket()).is_ok()
}

/// Creates the directories of an installation, without access for others, and refuses directories of other users.
pub fn prepare(places: &Places) -> Result<(), LifecycleError> {
    // The configuration's is there from the start, so that one written later is noticed; and it comes first, because
    // the others may be inside it.
    places.config.parent().map_or(Ok(()), private_directory)?;
    for path in [&places.socket_dir, &places.data_dir, &places.log_dir] {
        private_directory(path)?;
    }
    Ok(())
}

fn private_directory(path: &Path) -> Result<(), LifecycleError> {
    let failed = |doing| {
        move |source| LifecycleError::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    };
    let unsafe_because = |why: String| LifecycleError::Unsafe {
        path: path.to_owned(),
        why,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed("create the directory"))?;
    let found = fs::symlink_metadata(path).map_err(failed("look at"))?;
    let ours = rustix::process::getuid().as_raw();
    if found.is_symlink() {
        // A link to a directory of this user is a choice; a link by another user is an attack.
        if found.uid() != ours {
            return Err(unsafe_because(format!(
                "it is a link that belongs to user {}",
                found.uid()
            )));
        }
    }
    let found = fs::metadata(path).map_err(failed("look at"))?;
    if !found.is_dir() {
        return Err(unsafe_because("it is not a directory".into()));
    }
    if found.uid() != ours {
        return Err(unsafe_because(format!(
            "it belongs to user {}, not to you ({ours})",
            found.uid()
        )));
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(failed("close to others"))?;
    }
    Ok(())
}

/// The program that last served the database, so that an older client starts that one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its version.
    pub version: String,
    /// Its path.
    pub executable: PathBuf,
    /// The schema it leaves behind.
    pub schema: u32,
}

impl Record {
    /// Writes the record atomically, unless it has the same content already.
    pub fn write(&self, places: &Places) -> Result<(), LifecycleError> {
        if Self::read(places).as_ref() == Some(self) {
            return Ok(());
        }
        let path = places.record();
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        let written = text.and_then(|text| {
            let temporary = path.with_extension("json.new");
            let mut file = OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(true)
                .mode(0o600)
                .open(&temporary)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        });
        written.map_err(|source| LifecycleError::Io {
            doing: "write",
            path,
            source,
        })
    }

    /// Reads the record, if there is a readable one.
    pub fn read(places: &Places) -> Option<Self> {
        serde_json::from_slice(&fs::read(places.record()).ok()?).ok()
    }
}

/// A mark that the last broker stopped in an orderly way.
#[derive(Debug)]
pub struct CleanMark {
    path: PathBuf,
}

impl CleanMark {
    /// Removes the mark for the time of running; returns whether it was there.
    pub fn lift(places: &Places) -> (Self, bool) {
        let path = places.data_dir.join("clean");
        let was_there = fs::remove_file(&path).is_ok();
        (Self { path }, was_there)
    }

    /// Sets the mark.
    pub fn set(&self) {
        if let Err(error) = File::create(&self.path) {
            tracing::warn!(%error, "could not leave the mark of an orderly stop; the next start checks the database");
        }
    }
}
