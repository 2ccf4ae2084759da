//! Files of a test, read to be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns every file below a folder with its bytes; a socket is none.
///
/// # Panics
///
/// Panics when one cannot be read.
#[track_caller]
pub fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.insert(path, bytes);
        }
    }
    files
}
