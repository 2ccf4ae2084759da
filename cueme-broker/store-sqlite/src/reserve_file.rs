//! A disk reserve: a file that is deleted when the disk is full, so that answers can still be written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The size of the reserve, in bytes: some hundred answers of ordinary length.
const RESERVE_BYTES: u64 = 1024 * 1024;
/// The free space beyond the reserve that is needed to write it again, in bytes. Without this margin, a disk at its
/// limit would alternate between full and not full.
const HEADROOM_BYTES: u64 = 512 * 1024;
/// A smaller disk gets no reserve, in bytes.
const DISK_BYTES_MIN: u64 = 3 * RESERVE_BYTES;
/// The size of one write.
const PIECE_BYTES: usize = 64 * 1024;

/// The reserve file.
#[derive(Debug)]
pub(crate) struct ReserveFile {
    path: PathBuf,
}

impl ReserveFile {
    /// Describes the reserve of a database; it is beside the database.
    pub(crate) fn of(database: &Path) -> Self {
        Self {
            path: database.with_file_name("ballast"),
        }
    }

    /// Makes sure that the reserve exists, if there is room for it and the margin; returns whether it does.
    ///
    /// If it cannot be written for another reason than space, there is no reserve, and no write is refused for that.
    pub(crate) fn create(&self) -> bool {
        let is_there = fs::metadata(&self.path).is_ok_and(|found| found.len() == RESERVE_BYTES);
        if is_there || !self.has_room() {
            return is_there;
        }
        if let Err(error) = self.write() {
            tracing::warn!(%error, path = %self.path.display(), "no space is kept for answers");
        }
        true
    }

    /// Deletes the reserve; returns whether it existed.
    pub(crate) fn release(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }

    /// Says whether the disk is large enough for a reserve, when it is not full.
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

    /// Writes the whole file, or leaves none.
    fn write(&self) -> io::Result<()> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.path)?;
        fill(file).inspect_err(|_| {
            // An incomplete file is of no use and takes needed space.
            let _ = fs::remove_file(&self.path);
        })
    }
}

fn is_large_enough(disk_bytes: u64) -> bool {
    disk_bytes >= DISK_BYTES_MIN
}

fn is_room_enough(free_bytes: u64) -> bool {
    free_bytes >= RESERVE_BYTES + HEADROOM_BYTES
}

/// Fills a file with bytes that take space on the disk, unlike a hole.
fn fill(mut file: File) -> io::Result<()> {
    let piece = [0xa5; PIECE_BYTES];
    let mut left = RESERVE_BYTES;
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
    fn reserve_is_kept_once_and_given_up_once() {
        let directory = tempfile::tempdir().unwrap();
        let reserve = ReserveFile::of(&directory.path().join("cueme.db"));
        assert!(reserve.create() && reserve.create());
        let kept = fs::metadata(directory.path().join("ballast")).unwrap();
        assert_eq!(kept.len(), RESERVE_BYTES);
        assert!(reserve.release() && !reserve.release());
    }

    #[test]
    fn there_is_no_reserve_where_nothing_can_be_written() {
        assert!(!ReserveFile::of(Path::new("/nonexistent/cueme.db")).create());
    }

    #[test]
    fn reserve_is_kept_on_a_disk_of_three_times_its_size_with_room_for_half_of_it_more() {
        const MIB: u64 = 1024 * 1024;
        assert!(is_large_enough(3 * MIB) && !is_large_enough(3 * MIB - 1));
        assert!(is_room_enough(MIB + MIB / 2) && !is_room_enough(MIB + MIB / 2 - 1));
        assert!(ReserveFile::of(Path::new("/tmp/cueme.db")).fits());
        assert!(!ReserveFile::of(Path::new("/proc/cueme.db")).fits());
    }

    #[test]
    fn reserve_of_another_size_is_written_anew() {
        let directory = tempfile::tempdir().unwrap();
        let reserve = ReserveFile::of(&directory.path().join("cueme.db"));
        fs::write(&reserve.path, "little").unwrap();
        assert!(reserve.create());
        assert_eq!(fs::metadata(&reserve.path).unwrap().len(), RESERVE_BYTES);
    }
}
