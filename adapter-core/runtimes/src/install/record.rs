//! The record of an installation's changes, from which a removal restores the files.
//!
//! The record is the difference between "take out what looks like ours" and "restore exactly". It holds the old content
//! of each file and a digest of the content that we wrote: while the digest still matches, a removal restores the old
//! bytes; once a person or the runtime has edited the file, it removes our parts one by one instead.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use protocol_spec::hex::hex;
use sha2::{Digest, Sha256};

pub(super) mod storage;

/// The changes of one installation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The files, by path.
    pub files: BTreeMap<PathBuf, RecordedFile>,
    /// Folders that did not exist before, outermost first.
    pub folders: Vec<PathBuf>,
}

/// One file of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// The content before, if it existed.
    pub before: Option<Vec<u8>>,
    /// The digest of what we wrote.
    pub after: String,
}

/// The input of a plan: the files as they are now, and the record of an earlier installation.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The files that exist, by path.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// The record of this installation, if there is one.
    pub record: Option<Record>,
    /// Files that other installations have our rule in.
    pub claimed: BTreeSet<PathBuf>,
}

/// Returns the digest of a file's contents, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
