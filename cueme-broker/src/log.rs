//! The log: a file that is rotated, or the terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A log file is rotated when it has this many bytes.
const LOG_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// The most rotated files that are kept.
const LOGS_KEPT: u32 = 3;

/// Starts logging: to the file when the broker runs in the background, else to the terminal.
pub(crate) fn start(path: &Path, is_background: bool) -> io::Result<()> {
    let filter = EnvFilter::try_from_env("CUEME_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(false)
        // A failed write would be reported on stderr, and a failed report there ends the process.
        .log_internal_errors(false);
    // A second start in one process (as in tests) keeps the first one's log.
    let _ = if is_background {
        builder.with_writer(RotatingFile::open(path)?).try_init()
    } else {
        builder.with_writer(io::stderr).try_init()
    };
    Ok(())
}

/// A file that is rotated when it has grown.
#[derive(Debug, Clone)]
struct RotatingFile(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl RotatingFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self(Arc::new(Mutex::new(Inner {
            path: path.to_owned(),
            file,
            bytes,
        }))))
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.bytes >= LOG_BYTES_MAX {
            inner.rotate()?;
        }
        let count = inner.file.write(bytes)?;
        inner.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).file.flush()
    }
}

impl<'a> MakeWriter<'a> for RotatingFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Inner {
    fn rotate(&mut self) -> io::Result<()> {
        let aside = |number: u32| self.path.with_extension(format!("log.{number}"));
        for number in (1..LOGS_KEPT).rev() {
            // The older files may not exist yet.
            let _ = fs::rename(aside(number), aside(number + 1));
        }
        fs::rename(&self.path, aside(1))?;
        self.file = open(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_has_grown_is_put_aside_and_a_few_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("broker.log");
        let mut log = RotatingFile::open(&path).unwrap();
        let megabyte = vec![b'x'; 1024 * 1024];
        for _ in 0..(5 * (LOGS_KEPT + 3)) {
            log.write_all(&megabyte).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["broker.log", "broker.log.1", "broker.log.2", "broker.log.3"]
        );
    }
}
