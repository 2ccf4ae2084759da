//! Space kept for bad days: a file that is given up when the disk is full, so that answers can still be written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How much is kept, in bytes: some hundred answers of ordinary length.
const BALLAST_BYTES: u64 = 1024 * 1024;
/// How much more must be free before it is kept again, in bytes. Without it a disk at its limit would be full and not
/// full in turns.
const HEADROOM_BYTES: u64 = 512 * 1024;
/// A disk smaller than this has no room for ballast at all, in bytes.
const DISK_BYTES_MIN: u64 = 3 * BALLAST_BYTES;
/// How much is written at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The file that is given up.
#[derive(Debug)]
pub(crate) struct Ballast {
    path: PathBuf,
}

impl Ballast {
    /// Describes the ballast of a database; it lies beside it.
    pub(crate) fn of(database: &Path) -> Self {
        Self {
            path: database.with_file_name("ballast"),
        }
    }

    /// Makes sure that it is there, if there is room for it and more; returns whether there is.
    ///
    /// Where it cannot be written for another reason than space, nothing is kept, and nobody is refused for it.
    pub(crate) fn lay(&self) -> bool {
        let is_there = fs::metadata(&self.path).is_ok_and(|found| found.len() == BALLAST_BYTES);
        if is_there || !self.has_room() {
            return is_there;
        }
        if let Err(error) = self.write() {
            tracing::warn!(%error, path = %self.path.display(), "no space is kept for answers");
        }
        true
    }

    /// Gives the space back; returns whether there was some.
    pub(crate) fn give_up(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }

    /// Says whether the disk is large enough for it, when it is not full.
    pub(crate) fn fits(&self) -> bool {
        self.disk()
            .is_some_and(|disk| is_large_enough(disk.f_blocks.saturating_mul(disk.f_frsize)))
    }

    fn has_room(&self) -> bool {
        self.disk()
            .is_some_and(|disk| is_room_enough(disk.f_bavail.saturating_mul(disk.f_frsize)))
    }

    fn disk(&self) -> Option<rustix::fs::StatVfs> {
        rustix::fs::statvfs(self.path.parent()?).ok()
    }

    /// Writes it whole, or leaves nothing.
    fn write(&self) -> io::Result<()> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.path)?;
        fill(file).inspect_err(|_| {
            // What is half there helps nobody and takes space that is needed.
            let _ = fs::remove_file(&self.path);
        })
    }
}

fn is_large_enough(disk_bytes: u64) -> bool {
    disk_bytes >= DISK_BYTES_MIN
}

fn is_room_enough(free_bytes: u64) -> bool {
    free_bytes >= BALLAST_BYTES + HEADROOM_BYTES
}

/// Fills a file with bytes that really take space, as a hole would not.
fn fill(mut file: File) -> io::Result<()> {
    let piece = [0xa5; PIECE_BYTES];
    let mut left = BALLAST_BYTES;
    while left > 0 {
        let count = left.min(piece.len() as u64);
        file.write_all(&piece[..usize::try_from(count).unwrap_or(piece.len())])?;
        left -= count;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ballast_is_kept_once_and_given_up_once() {
        let directory = tempfile::tempdir().unwrap();
        let ballast = Ballast::of(&directory.path().join("cueme.db"));
        assert!(ballast.lay() && ballast.lay());
        let kept = fs::metadata(directory.path().join("ballast")).unwrap();
        assert_eq!(kept.len(), BALLAST_BYTES);
        assert!(ballast.give_up() && !ballast.give_up());
    }

    #[test]
    fn there_is_no_ballast_where_nothing_can_be_written() {
        assert!(!Ballast::of(Path::new("/nonexistent/cueme.db")).lay());
    }

    #[test]
    fn ballast_is_kept_on_a_disk_of_three_times_its_size_with_room_for_half_of_it_more() {
        const MIB: u64 = 1024 * 1024;
        assert!(is_large_enough(3 * MIB) && !is_large_enough(3 * MIB - 1));
        assert!(is_room_enough(MIB + MIB / 2) && !is_room_enough(MIB + MIB / 2 - 1));
        assert!(Ballast::of(Path::new("/tmp/cueme.db")).fits());
        assert!(!Ballast::of(Path::new("/proc/cueme.db")).fits());
    }

    #[test]
    fn ballast_of_another_size_is_written_anew() {
        let directory = tempfile::tempdir().unwrap();
        let ballast = Ballast::of(&directory.path().join("cueme.db"));
        fs::write(&ballast.path, "little").unwrap();
        assert!(ballast.lay());
        assert_eq!(fs::metadata(&ballast.path).unwrap().len(), BALLAST_BYTES);
    }
}
