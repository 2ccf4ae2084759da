//! Runs a command for an agent, after somebody allowed it.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use crate::contract::Exit;
use crate::guard::{Text, Tool, ToolError, ToolFuture, ToolOutput, arguments, redact};
use crate::process::{Group, exit_of, lead_group};

/// The longest command.
const COMMAND_CHARS_MAX: usize = 65536;
/// The most bytes kept of each of stdout and stderr.
const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// The timeout of a command.
const EXEC_TIME_MAX: Duration = Duration::from_secs(600);

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It may run.
    Approved,
    /// It asks the human and does nothing else: it may run, and take as long as they do.
    Asks,
    /// It may not, and why.
    Refused(String),
}

/// Decides whether a command may run: a human through the broker, or a policy.
pub trait Approver: Send + Sync {
    /// Decides about one command; waits as long as it takes.
    fn approve<'a>(&'a self, command: &'a str) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;

    /// Returns what is added to the environment of commands.
    fn env(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// The `exec` tool.
#[derive(Clone)]
pub struct Exec {
    approver: Arc<dyn Approver>,
    cwd: Option<PathBuf>,
    time_max: Duration,
}

impl std::fmt::Debug for Exec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exec")
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Exec {
    /// Builds the tool; nothing runs before this approver agrees.
    pub fn new(approver: Arc<dyn Approver>, cwd: Option<PathBuf>) -> Self {
        Self {
            approver,
            cwd,
            time_max: EXEC_TIME_MAX,
        }
    }

    async fn run(&self, line: &str, time_max: Duration) -> Result<String, ToolError> {
        let failed =
            |what: &str, error: &dyn std::fmt::Display| ToolError::Failed(format!("{what}: {error}"));
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .envs(self.approver.env())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        lead_group(&mut command);
        let mut child = command
            .spawn()
            .map_err(|error| failed("could not start sh", &error))?;
        let group = Group::of(child.id());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = async { tokio::join!(read_capped(stdout), read_capped(stderr), child.wait()) };
        let Ok((stdout, stderr, status)) = tokio::time::timeout(time_max, output).await else {
            drop(group);
            let _ = child.wait().await;
            return Err(ToolError::Failed(format!(
                "the command ran longer than {} s",
                time_max.as_secs()
            )));
        };
        let exit = exit_of(status.map_err(|error| failed("could not wait for the command", &error))?);
        Ok(describe(exit, &stdout, &stderr))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: Text<COMMAND_CHARS_MAX>,
}

impl Tool for Exec {
    fn names(&self) -> &[&str] {
        &["exec"]
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"command": {"type": "string", "minLength": 1, "maxLength": COMMAND_CHARS_MAX}},
            "required": ["command"],
            "additionalProperties": false
        })
    }

    fn check(&self, args: &Value) -> Result<(), String> {
        arguments::<Arguments>(args).map(drop)
    }

    fn call<'a>(&'a self, args: &'a Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let Arguments {
                command: Text(command),
            } = arguments(args).map_err(ToolError::Failed)?;
            match self.approver.approve(&command).await {
                Approval::Approved => self.run(&command, self.time_max).await.map(ToolOutput::from),
                Approval::Asks => self.run(&command, Duration::MAX).await.map(ToolOutput::from),
                Approval::Refused(reason) => Err(ToolError::Refused(reason)),
            }
        })
    }
}

fn describe(exit: Exit, stdout: &str, stderr: &str) -> String {
    let mut text = match exit {
        Exit::Code(code) => format!("exit {code}\n"),
        Exit::Signal(signal) => format!("ended by signal {signal}\n"),
    };
    for (name, output) in [("stdout", stdout), ("stderr", stderr)] {
        if !output.is_empty() {
            text.push_str(&format!("{name}:\n{}\n", redact(output).trim_end()));
        }
    }
    text
}

/// Reads to the end and keeps the beginning.
async fn read_capped(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else {
        return String::new();
    };
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = OUTPUT_BYTES_MAX - kept.len();
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Policy(Approval);

    impl Approver for Policy {
        fn approve<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
            Box::pin(async { self.0.clone() })
        }
    }

    fn exec(approval: Approval) -> Exec {
        Exec {
            time_max: Duration::from_millis(500),
            ..Exec::new(Arc::new(Policy(approval)), None)
        }
    }

    #[tokio::test]
    async fn an_approved_command_runs_and_says_everything_about_its_end() {
        let text = exec(Approval::Approved)
            .call(&json!({"command": "echo out; echo err >&2; exit 3"}))
            .await
            .unwrap();
        assert_eq!(text.text, "exit 3\nstdout:\nout\nstderr:\nerr\n");
    }

    #[tokio::test]
    async fn a_refused_command_never_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made");
        let command = format!("touch {}", file.display());
        let result = exec(Approval::Refused("no".into()))
            .call(&json!({ "command": command }))
            .await;
        assert_eq!(result.unwrap_err(), ToolError::Refused("no".into()));
        assert!(!file.exists());
    }

    #[tokio::test]
    async fn a_command_that_runs_too_long_is_ended_with_all_it_started() {
        let result = exec(Approval::Approved)
            .call(&json!({"command": "sleep 3600 & sleep 3600"}))
            .await;
        assert!(result.unwrap_err().to_string().contains("longer than"));
    }
}
