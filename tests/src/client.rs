//! A command that runs beside the test, and how it ended.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::process::{is_alive, send_signal};
use cueme_test_kit::eventually;

/// A running command. Its output is captured; it is killed when dropped.
#[derive(Debug)]
pub struct Client {
    child: Child,
    stdout: File,
    stderr: File,
}

/// The exit and the output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its stdout.
    pub stdout: String,
    /// Its stderr.
    pub stderr: String,
}

impl Client {
    /// Starts a command with these bytes on stdin.
    ///
    /// # Panics
    ///
    /// Panics when it cannot be started.
    #[track_caller]
    pub fn start(command: &mut Command, stdin: &[u8]) -> Self {
        let (stdout, stderr) = (caught(), caught());
        command.stdout(share(&stdout)).stderr(share(&stderr));
        Self::start_with_output(command, stdin, stdout, stderr)
    }

    /// Starts a command whose stdout the caller has set.
    ///
    /// # Panics
    ///
    /// Panics when it cannot be started.
    #[track_caller]
    pub fn start_with_own_stdout(command: &mut Command, stdin: &[u8]) -> Self {
        let stderr = caught();
        command.stderr(share(&stderr));
        Self::start_with_output(command, stdin, caught(), stderr)
    }

    fn start_with_output(command: &mut Command, stdin: &[u8], stdout: File, stderr: File) -> Self {
        let mut input = caught();
        input.write_all(stdin).unwrap_or_else(|error| panic!("{error}"));
        input
            .seek(SeekFrom::Start(0))
            .unwrap_or_else(|error| panic!("{error}"));
        let child = command
            .stdin(input)
            .spawn()
            .unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Returns its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Says whether it still runs.
    pub fn is_running(&self) -> bool {
        is_alive(self.pid())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        send_signal(self.pid(), signal);
    }

    /// Kills it the hard way, and waits until it is gone.
    pub fn kill(mut self) -> Run {
        let _ = self.child.kill();
        self.finish()
    }

    /// Returns what it has printed on stdout so far.
    pub fn stdout(&self) -> String {
        text_of(&self.stdout)
    }

    /// Returns what it has printed on stderr so far.
    pub fn stderr(&self) -> String {
        text_of(&self.stderr)
    }

    /// Returns how it ended, if it has.
    pub fn ended(&mut self) -> Option<Run> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(Run {
            code: status.code(),
            stdout: self.stdout(),
            stderr: self.stderr(),
        })
    }

    /// Waits for its end.
    ///
    /// # Panics
    ///
    /// Panics when it does not end.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        eventually("the end of a command", || self.ended())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail for a command that has ended, as most have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Run {
    /// Makes sure that the command ended with this code.
    ///
    /// # Panics
    ///
    /// Panics when it ended otherwise.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        self.printed(code);
        self
    }

    /// Returns stdout of a command that must have ended with this code.
    ///
    /// # Panics
    ///
    /// Panics when it ended otherwise.
    #[track_caller]
    pub fn printed(&self, code: i32) -> &str {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        &self.stdout
    }

    /// Parses stdout.
    ///
    /// # Panics
    ///
    /// Panics when it is not JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// Makes sure that the command failed with this code, said all of `words` on stderr and nothing on stdout.
    ///
    /// # Panics
    ///
    /// Panics when it ended otherwise.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.printed(code), "", "a refusal prints nothing on stdout");
        for word in words {
            assert!(
                self.stderr.contains(word),
                "{word:?} is missing in\n{}",
                self.stderr
            );
        }
    }
}

fn caught() -> File {
    tempfile::tempfile().unwrap_or_else(|error| panic!("no temporary file: {error}"))
}

fn share(file: &File) -> Stdio {
    file.try_clone()
        .map_or_else(|error| panic!("{error}"), Stdio::from)
}

/// Reads a file from its beginning through a descriptor of its own, so that the writer's position stays.
fn text_of(file: &File) -> String {
    use std::os::unix::fs::FileExt;
    let mut bytes = Vec::new();
    let mut piece = [0; 64 * 1024];
    while let Ok(count) = file.read_at(&mut piece, bytes.len() as u64) {
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
