//! One hook per end of a turn: Cursor and VS Code run Claude Code's hook files too.
//!
//! The lease is a lock on a file named after the turn. The system releases a lock when its holder dies, so a lease
//! never becomes stale: a hook that was killed leaves the turn to the next hook, and one that finished leaves a mark in
//! the file.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::hex::hex;
use protocol_spec::id::RequestId;
use sha2::{Digest, Sha256};

use crate::error::CliError;

/// The content of a finished turn's lease file.
const DONE: &[u8] = b"done\n";
/// The retention of such files; a host lets a hook wait for a day at most.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The length of a digest in a file name.
const SHORT_DIGEST_BYTES: usize = 16;

/// The right to deal with the end of a turn.
#[derive(Debug)]
pub(super) struct Lease {
    file: File,
}

impl Lease {
    /// Takes the lease of a turn; `None` when another hook has it or has finished.
    pub(super) fn take(places: &Places, turn_key: &str) -> Result<Option<Self>, CliError> {
        let folder = folder(places)?;
        forget_old(&folder);
        let path = folder.join(format!("{}.lease", short_digest(turn_key)));
        let failed = |error: std::io::Error| CliError::io("lock", &path, &error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut mark = Vec::new();
        Read::by_ref(&mut file)
            .take(DONE.len() as u64)
            .read_to_end(&mut mark)
            .map_err(failed)?;
        Ok((mark != DONE).then_some(Self { file }))
    }

    /// Marks the turn as dealt with.
    pub(super) fn finish(mut self) {
        // Without the mark a second hook would repeat the human's words; that is no reason to fail.
        let _ = self.file.write_all(DONE);
    }
}

/// Returns the request id of this turn's question; a hook that replaces a killed one re-attaches by it.
pub(super) fn request_of(turn_key: &str) -> RequestId {
    RequestId::from_digest(Sha256::digest(turn_key.as_bytes()).into())
}

/// Returns the directory of the hooks' state.
pub(super) fn folder(places: &Places) -> Result<PathBuf, CliError> {
    let folder = places.data_dir.join("hooks");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| CliError::io("make the folder", &folder, &error).with_exit(Exit::Io))?;
    Ok(folder)
}

/// Returns the digest of a text, for a file name.
pub(super) fn short_digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..SHORT_DIGEST_BYTES])
}

fn forget_old(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let Some(limit) = SystemTime::now().checked_sub(KEPT_FOR) else {
        return;
    };
    for entry in entries.flatten() {
        let is_old = entry
            .metadata()
            .and_then(|found| found.modified())
            .is_ok_and(|at| at < limit);
        if is_old {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_dealt_with_once_and_left_to_the_next_when_its_hook_dies() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        let first = Lease::take(&places, "s/t/1").unwrap().unwrap();
        assert!(Lease::take(&places, "s/t/1").unwrap().is_none());
        assert!(Lease::take(&places, "s/t/2").unwrap().is_some());
        drop(first);
        let second = Lease::take(&places, "s/t/1").unwrap().unwrap();
        second.finish();
        assert!(Lease::take(&places, "s/t/1").unwrap().is_none());
    }

    #[test]
    fn every_hook_of_a_turn_asks_under_the_same_key() {
        assert_eq!(request_of("a"), request_of("a"));
        assert_ne!(request_of("a"), request_of("b"));
    }
}
