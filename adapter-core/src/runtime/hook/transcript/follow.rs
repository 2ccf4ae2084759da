//! Notices that the human types in the host's own window while a hook waits.
//!
//! Claude Code queues what is typed then, and writes that to the transcript at once; the words reach the agent only
//! when the hook has ended.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use notify::{RecursiveMode, Watcher};
use serde_json::Value;

use super::TAIL_BYTES_MAX;
use super::entry::{kind, text};

/// How a prompt begins that the host queues by itself when a command in the background ends.
const OF_THE_HOST: &str = "<task-notification>";

/// How often the folder of a transcript is looked for that the host has not made yet.
const FOLDER_PERIOD: Duration = Duration::from_secs(1);

/// Follows a transcript for words that wait in the host's queue.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    offset: u64,
    /// The beginning of a line that is still being written.
    unfinished: Vec<u8>,
    queued: usize,
}

impl Follower {
    /// Begins with what is in the transcript now. In the first turn of a session it may not be there yet.
    pub fn open(path: &Path) -> io::Result<Self> {
        let length = match std::fs::metadata(path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let mut follower = Self {
            path: path.to_owned(),
            offset: length.saturating_sub(TAIL_BYTES_MAX),
            unfinished: Vec::new(),
            queued: 0,
        };
        follower.read_on()?;
        Ok(follower)
    }

    /// Tells whether the human's words wait in the queue.
    pub fn is_queued(&self) -> bool {
        self.queued > 0
    }

    /// Blocks until they do.
    pub fn wait(mut self) -> io::Result<()> {
        let (sender, events) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender).map_err(io::Error::other)?;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        while !folder.exists() {
            thread::sleep(FOLDER_PERIOD);
        }
        // The folder is watched, because a file cannot be before it exists.
        watcher
            .watch(folder, RecursiveMode::NonRecursive)
            .map_err(io::Error::other)?;
        loop {
            // Read first: a line may have come before the watch began.
            self.read_on()?;
            if self.is_queued() {
                return Ok(());
            }
            events
                .recv()
                .map_err(io::Error::other)?
                .map_err(io::Error::other)?;
        }
    }

    fn read_on(&mut self) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        let count = file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
        self.offset = self.offset.saturating_add(count as u64);
        self.unfinished.extend(bytes);
        let whole = self
            .unfinished
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let rest = self.unfinished.split_off(whole);
        let lines = std::mem::replace(&mut self.unfinished, rest);
        for line in lines.split(|byte| *byte == b'\n') {
            if let Ok(line) = serde_json::from_slice(line) {
                self.count(&line);
            }
        }
        Ok(())
    }

    fn count(&mut self, line: &Value) {
        if kind(line) != Some("queue-operation") {
            return;
        }
        match text(line, "operation") {
            Some("enqueue") if !text(line, "content").is_some_and(|words| words.starts_with(OF_THE_HOST)) => {
                self.queued += 1;
            }
            Some("enqueue") => {}
            Some("popAll") => self.queued = 0,
            _ => self.queued = self.queued.saturating_sub(1),
        }
    }
}
