//! Notices in the transcript that a hook waits in vain: the human typed or decided in the host's own window.
//!
//! Claude Code queues what is typed while a hook runs, and writes that to the transcript at once; the words reach the agent
//! only when the hook has ended. Its dialog stays open beside the hook that is asked for permission, and it does not stop the
//! hook when the human has answered there: only the result of the call is recorded.

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
use super::entry::{Said, entries, kind, text};
use crate::hook::ToolCall;

/// The beginning of a prompt that the host itself queues when a background command ends.
const OF_THE_HOST: &str = "<task-notification>";

/// The polling interval for a transcript's folder that the host has not created yet.
const FOLDER_PERIOD: Duration = Duration::from_secs(1);

/// Follows a transcript until it says that the hook need not wait any longer.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    offset: u64,
    /// The beginning of a line that is still being written.
    unfinished: Vec<u8>,
    sought: Sought,
}

/// The event that ends the wait.
#[derive(Debug)]
enum Sought {
    /// The human's words in the host's queue.
    Typing {
        /// The number of queued prompts.
        queued: usize,
    },
    /// The end of a call.
    CallEnd {
        call: ToolCall,
        /// The calls like it that have not ended: the host does not tell the hook which one is its own.
        pending: Vec<String>,
        has_ended: bool,
    },
}

impl Follower {
    /// Looks for words that the human types.
    pub fn of_typing(path: &Path) -> io::Result<Self> {
        Self::open(path, Sought::Typing { queued: 0 })
    }

    /// Looks for the end of a call that has not been permitted yet. Of calls that are alike, all have to end.
    pub fn of_call_end(path: &Path, call: &ToolCall) -> io::Result<Self> {
        let mut follower = Self::open(
            path,
            Sought::CallEnd {
                call: call.clone(),
                pending: Vec::new(),
                has_ended: false,
            },
        )?;
        // A call that ended before is another one.
        if let Sought::CallEnd { has_ended, .. } = &mut follower.sought {
            *has_ended = false;
        }
        Ok(follower)
    }

    /// Begins with what is in the transcript now. In the first turn of a session it may not be there yet.
    fn open(path: &Path, sought: Sought) -> io::Result<Self> {
        let length = match std::fs::metadata(path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let mut follower = Self {
            path: path.to_owned(),
            offset: length.saturating_sub(TAIL_BYTES_MAX),
            unfinished: Vec::new(),
            sought,
        };
        follower.read_on()?;
        Ok(follower)
    }

    /// Says whether it was found in what was read so far.
    pub fn is_found(&self) -> bool {
        match &self.sought {
            Sought::Typing { queued } => *queued > 0,
            Sought::CallEnd {
                pending, has_ended, ..
            } => *has_ended && pending.is_empty(),
        }
    }

    /// Blocks until it is found.
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
            if self.is_found() {
                return Ok(());
            }
            events
                .recv()
                .map_err(io::Error::other)?
                .map_err(io::Error::other)?;
        }
    }

    /// Reads what was written since the last time.
    pub fn read_on(&mut self) -> io::Result<()> {
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
                self.sought.look_at(&line);
            }
        }
        Ok(())
    }
}

impl Sought {
    fn look_at(&mut self, line: &Value) {
        match self {
            Self::Typing { queued } => count(queued, line),
            Self::CallEnd {
                call,
                pending,
                has_ended,
            } => {
                for entry in entries(line) {
                    match entry.said {
                        Said::Prompt => pending.clear(),
                        Said::Call {
                            id: Some(id),
                            call: made,
                        } if made == *call => pending.push(id),
                        Said::Result { id: Some(id), .. } if pending.contains(&id) => {
                            pending.retain(|known| *known != id);
                            *has_ended = true;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn count(queued: &mut usize, line: &Value) {
    if kind(line) != Some("queue-operation") {
        return;
    }
    match text(line, "operation") {
        Some("enqueue") if !text(line, "content").is_some_and(|words| words.starts_with(OF_THE_HOST)) => {
            *queued += 1;
        }
        Some("enqueue") => {}
        Some("popAll") => *queued = 0,
        _ => *queued = queued.saturating_sub(1),
    }
}
