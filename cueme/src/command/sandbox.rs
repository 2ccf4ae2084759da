//! A place of its own, with a broker of its own, that is gone when dropped. Nothing of the user's is touched.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol_spec::exit::Exit;
use tempfile::TempDir;

use crate::environment;
use crate::error::CliError;

/// The timeout for a question to appear in the inbox.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(20);
/// The polling interval until then.
const ASKED_LOOK: Duration = Duration::from_millis(2);
/// The hint below a failure whose cause is unknown.
pub(super) const CHECK: &str = "run `cueme doctor`";

/// Runs `cueme` in a home.
#[derive(Debug)]
pub(super) struct Sandbox {
    executable: PathBuf,
    /// `None` means the user's own place.
    home: Option<TempDir>,
    running: Arc<Mutex<Running>>,
    /// Whether Ctrl-C is the caller's alone, which closes the sandbox then.
    is_guarded: bool,
}

/// The processes of a sandbox.
#[derive(Debug, Default)]
struct Running {
    children: Vec<u32>,
    /// No process is started any more.
    is_closed: bool,
}

/// An agent's question that is being waited for.
#[derive(Debug)]
pub(super) struct Waiting {
    child: Child,
    running: Arc<Mutex<Running>>,
}

impl Sandbox {
    /// Makes a temporary place inside `directory`.
    pub(super) fn inside(directory: &Path) -> Result<Self, CliError> {
        let home = tempfile::Builder::new().prefix("cueme-").tempdir_in(directory);
        let home =
            home.map_err(|error| CliError::io("create a temporary directory in", directory, &error))?;
        Ok(Self {
            executable: executable()?,
            home: Some(home),
            running: Arc::default(),
            is_guarded: false,
        })
    }

    /// Uses the user's own place.
    pub(super) fn here() -> Result<Self, CliError> {
        Ok(Self {
            executable: executable()?,
            home: None,
            running: Arc::default(),
            is_guarded: false,
        })
    }

    /// Keeps Ctrl-C from its processes: the caller catches it, and closes the sandbox.
    pub(super) fn guarded(mut self) -> Self {
        self.is_guarded = true;
        self
    }

    /// Runs a command to its end and returns what it printed.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, CliError> {
        let mut command = self.command(words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = self.spawn_apart(&mut command)?;
        let pid = child.id();
        let output = child.wait_with_output();
        forget(&self.running, pid);
        let output = output.map_err(|error| CliError::io("run", &self.executable, &error))?;
        text_of(&output, words)
    }

    /// Runs a command that talks to the person itself.
    pub(super) fn run_visibly(&self, words: &[&str]) -> Result<(), CliError> {
        let mut child = self.spawn(&mut self.command(words))?;
        let status = child.wait();
        forget(&self.running, child.id());
        match status
            .map_err(|error| CliError::io("run", &self.executable, &error))?
            .success()
        {
            true => Ok(()),
            false => Err(CliError::new(
                Exit::Io,
                format!("`cueme {}` failed", words.join(" ")),
            )),
        }
    }

    /// Asks as an agent would, and returns once the question is in the inbox, with its cue id.
    pub(super) fn ask(&self, words: &[&str], stdin: Option<&str>) -> Result<(Waiting, String), CliError> {
        let before = self.open_cues()?;
        let mut waiting = self.start(words, stdin)?;
        let deadline = Instant::now() + ASKED_WAIT_MAX;
        loop {
            if let Some(cue) = self.open_cues()?.into_iter().find(|cue| !before.contains(cue)) {
                return Ok((waiting, cue));
            }
            let has_ended = waiting.child.try_wait().is_ok_and(|status| status.is_some());
            if Instant::now() >= deadline || has_ended {
                let what = if has_ended {
                    "ended before its question reached the inbox"
                } else {
                    "asked nothing in time"
                };
                let message = format!("`cueme {}` {what}", words.join(" "));
                return Err(CliError::new(Exit::Io, message).with_hint(CHECK));
            }
            std::thread::sleep(ASKED_LOOK);
        }
    }

    /// Starts a command that waits for a human.
    pub(super) fn start(&self, words: &[&str], stdin: Option<&str>) -> Result<Waiting, CliError> {
        let mut command = self.command(words);
        let input = if stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let child = self.spawn_apart(command.stdin(input).stdout(Stdio::piped()))?;
        let mut waiting = Waiting {
            child,
            running: Arc::clone(&self.running),
        };
        if let (Some(text), Some(mut pipe)) = (stdin, waiting.child.stdin.take()) {
            // A child that ended early says why itself.
            let _ = pipe.write_all(text.as_bytes());
        }
        Ok(waiting)
    }

    /// Ends every process and removes the place. Nothing is started from here on.
    pub(super) fn close(&self) {
        let children = {
            let mut running = lock(&self.running);
            running.is_closed = true;
            std::mem::take(&mut running.children)
        };
        // Clients first: one that waits would start another broker.
        for pid in children {
            let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
        }
        if let Some(home) = &self.home {
            let mut stop = self.command(&["broker", "stop"]);
            let _ = stop
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            // Dropping the sandbox removes the files that are left.
            let _ = std::fs::remove_dir_all(home.path());
        }
    }

    /// Starts a process that does not talk to the person.
    fn spawn_apart(&self, command: &mut Command) -> Result<Child, CliError> {
        if self.is_guarded {
            command.process_group(0);
        }
        self.spawn(command)
    }

    fn spawn(&self, command: &mut Command) -> Result<Child, CliError> {
        let mut running = lock(&self.running);
        if running.is_closed {
            return Err(CliError::silent(Exit::Interrupted));
        }
        let child = command
            .spawn()
            .map_err(|error| CliError::io("run", &self.executable, &error))?;
        running.children.push(child.id());
        Ok(child)
    }

    fn open_cues(&self) -> Result<Vec<String>, CliError> {
        let json = self.run(&["inbox", "--json"])?;
        let cues: Vec<serde_json::Value> = serde_json::from_str(&json)
            .map_err(|error| CliError::new(Exit::Io, format!("could not read the inbox: {error}")))?;
        Ok(cues
            .iter()
            .filter_map(|cue| cue["cue_id"].as_str().map(str::to_owned))
            .collect())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .args(words)
            .env_remove("CUEME_WAIT")
            .env_remove(adapter_core::hap::TURN_ENV);
        if let Some(home) = &self.home {
            command.env("CUEME_HOME", home.path());
        }
        command
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.close();
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(running: &Mutex<Running>, pid: u32) {
    lock(running).children.retain(|child| *child != pid);
}

impl Waiting {
    /// Takes the pipe in which the agent's call prints what it gets.
    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits for the end of the agent's call; returns what it read and how it ended.
    pub(super) fn finish(mut self) -> io::Result<(String, Option<i32>)> {
        let mut text = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            stdout.read_to_string(&mut text)?;
        }
        let status = self.child.wait()?;
        Ok((text, status.code()))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Both fail for a call that has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
        forget(&self.running, self.child.id());
    }
}

fn executable() -> Result<PathBuf, CliError> {
    environment::executable()
        .map_err(|error| CliError::new(Exit::Io, format!("could not find this program: {error}")))
}

fn text_of(output: &Output, words: &[&str]) -> Result<String, CliError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(CliError::new(
        Exit::Io,
        format!("`cueme {}` failed: {}", words.join(" "), said.trim()),
    ))
}
