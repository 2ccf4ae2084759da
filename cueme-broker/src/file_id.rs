//! Tells whether a path still refers to the file that was opened.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the identity of the file at a path, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::from)
    }
}

impl From<&std::fs::Metadata> for FileId {
    fn from(found: &std::fs::Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
        }
    }
}
