//! Starts an agent's program as the leader of a process group.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::group::lead_group;
use super::locate::locate;
use crate::contract::{ErrorCode, ErrorData};

/// The most attempts to start a program that is being replaced.
const SPAWN_TRIES: u32 = 60;
const SPAWN_PAUSE: Duration = Duration::from_millis(50);

/// A program that is to be started, with its pipes to us.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    /// Its name or path.
    pub(crate) command: &'a str,
    /// Its arguments.
    pub(crate) args: &'a [String],
    /// Added to our environment.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// The directory it runs in.
    pub(crate) cwd: Option<&'a Path>,
}

impl Start<'_> {
    /// Starts it.
    pub(crate) async fn spawn(self, stdin: Stdio) -> Result<Child, ErrorData> {
        if let Some(cwd) = self.cwd.filter(|cwd| !cwd.is_dir()) {
            let message = format!("the working directory {} does not exist", cwd.display());
            return Err(ErrorData::new(ErrorCode::Config, message));
        }
        let path = self
            .env
            .get("PATH")
            .map(OsString::from)
            .or_else(|| std::env::var_os("PATH"));
        let program = locate(self.command, path.as_deref()).ok_or_else(|| {
            let message = format!("{}: command not found", self.command);
            ErrorData::new(ErrorCode::CommandNotFound, message)
        })?;
        self.start(&program, stdin)
            .await
            .map_err(|error| spawn_error(&program, &error))
    }

    async fn start(self, program: &Path, stdin: Stdio) -> io::Result<Child> {
        let mut command = Command::new(program);
        command
            .args(self.args)
            .envs(self.env)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        lead_group(&mut command);
        let mut tries = 0;
        loop {
            match command.spawn() {
                // The CLI updates itself; for a moment its file cannot be run.
                Err(error) if is_being_replaced(&error) && tries < SPAWN_TRIES => tries += 1,
                result => return result,
            }
            sleep(SPAWN_PAUSE).await;
        }
    }
}

/// Reports whether starting failed only because the file is being replaced by an update.
fn is_being_replaced(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ExecutableFileBusy
}

fn spawn_error(program: &Path, error: &io::Error) -> ErrorData {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::CommandNotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::Spawn,
    };
    ErrorData::new(code, format!("could not start {}: {error}", program.display()))
}
