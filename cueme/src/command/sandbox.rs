//! A place of its own, with a broker of its own, that is gone when dropped. Nothing of the user's is touched.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use protocol_spec::exit::Exit;
use tempfile::TempDir;

use crate::environment;
use crate::error::CliError;

/// How long a question may take until it appears in the inbox.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(20);
/// How often the inbox is looked at until then.
const ASKED_LOOK: Duration = Duration::from_millis(2);

/// Runs `cueme` in a home.
#[derive(Debug)]
pub(super) struct Sandbox {
    executable: PathBuf,
    /// `None` means the user's own place.
    home: Option<TempDir>,
}

/// An agent's question that is being waited for.
#[derive(Debug)]
pub(super) struct Waiting {
    child: Child,
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
        })
    }

    /// Uses the user's own place.
    pub(super) fn here() -> Result<Self, CliError> {
        Ok(Self {
            executable: executable()?,
            home: None,
        })
    }

    /// Runs a command to its end and returns what it printed.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, CliError> {
        let output = self.command(words).stdin(Stdio::null()).output();
        let output = output.map_err(|error| CliError::io("run", &self.executable, &error))?;
        text_of(&output, words)
    }

    /// Runs a command that talks to the person itself.
    pub(super) fn run_visibly(&self, words: &[&str]) -> Result<(), CliError> {
        let status = self.command(words).status();
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
        let mut child = self
            .command(words)
            .stdin(if stdin.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| CliError::io("run", &self.executable, &error))?;
        if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
            // A child that ended early says why itself.
            let _ = pipe.write_all(text.as_bytes());
        }
        let deadline = Instant::now() + ASKED_WAIT_MAX;
        loop {
            if let Some(cue) = self.open_cues()?.into_iter().find(|cue| !before.contains(cue)) {
                return Ok((Waiting { child }, cue));
            }
            if Instant::now() >= deadline || child.try_wait().is_ok_and(|status| status.is_some()) {
                let _ = child.kill();
                let _ = child.wait();
                return Err(CliError::new(
                    Exit::Io,
                    format!("`cueme {}` did not ask", words.join(" ")),
                ));
            }
            std::thread::sleep(ASKED_LOOK);
        }
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
        if self.home.is_some() {
            // The directory goes away in any case; a broker that does not end now ends with it.
            let _ = self.run(&["broker", "stop"]);
        }
    }
}

impl Waiting {
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
