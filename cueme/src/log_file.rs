//! Logs of programs whose output people do not see: one file each, small, private.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use protocol_spec::endpoint::Places;

use crate::display::{now, visible_line};

/// The size at which a log is rotated; the previous one is kept.
const BYTES_MAX: u64 = 1024 * 1024;

/// Adds a line to the log of this name. One that cannot be written changes nothing for the caller.
pub(crate) fn note(places: &Places, name: &str, line: &str) {
    let _ = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&places.log_dir);
    let path = places.log_dir.join(name);
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > BYTES_MAX) {
        let _ = std::fs::rename(&path, path.with_extension("log.1"));
    }
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{} {}", now(), visible_line(line));
    }
}
