//! Asks the CLI about itself: its version, who is logged in, its models, a new chat.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use protocol_spec::visible::quoted;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::fault::exit_error;
use crate::contract::{ErrorCode, ErrorData, Exit};
use crate::guard::redact;
use crate::process::{Group, exit_of, lead_group};

/// The timeout of a probe.
const PROBE_TIME_MAX: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// The CLI's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The exit of the process.
    pub exit: Exit,
    /// Its stdout, without secrets.
    pub stdout: String,
    /// Its stderr, without secrets.
    pub stderr: String,
}

/// Runs the CLI with these arguments and nothing on its stdin.
pub async fn probe(program: &Path, args: &[&str], cwd: Option<&PathBuf>) -> Result<Probe, ErrorData> {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    lead_group(&mut command);
    let failed = |error: &std::io::Error| {
        ErrorData::new(
            ErrorCode::Spawn,
            format!("could not run {} {}: {error}", program.display(), args.join(" ")),
        )
    };
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let group = Group::of(child.id());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let answer = async {
        let read_out = async {
            match out {
                Some(pipe) => pipe
                    .take(ANSWER_BYTES_MAX)
                    .read_to_end(&mut stdout)
                    .await
                    .map(drop),
                None => Ok(()),
            }
        };
        let read_err = async {
            match err {
                Some(pipe) => pipe
                    .take(ANSWER_BYTES_MAX)
                    .read_to_end(&mut stderr)
                    .await
                    .map(drop),
                None => Ok(()),
            }
        };
        tokio::join!(read_out, read_err, child.wait()).2
    };
    let Ok(status) = tokio::time::timeout(PROBE_TIME_MAX, answer).await else {
        drop(group);
        let _ = child.wait().await;
        let message = format!("{} {} did not answer in time", program.display(), args.join(" "));
        return Err(ErrorData::new(ErrorCode::Timeout, message));
    };
    let exit = exit_of(status.map_err(|error| failed(&error))?);
    let text = |bytes: &[u8]| redact(String::from_utf8_lossy(bytes).trim()).into_owned();
    Ok(Probe {
        exit,
        stdout: text(&stdout),
        stderr: text(&stderr),
    })
}

/// Returns the CLI's version.
pub async fn version(program: &Path) -> Result<String, ErrorData> {
    answered(probe(program, &["--version"], None).await?)
}

/// Returns who is logged in, in the CLI's words.
pub async fn login_status(program: &Path) -> Result<String, ErrorData> {
    let answer = probe(program, &["status"], None).await?;
    let logged_out = format!("{}{}", answer.stdout, answer.stderr)
        .to_lowercase()
        .contains("not logged in");
    if logged_out {
        return Err(ErrorData::new(ErrorCode::ModelAuth, "nobody is logged in"));
    }
    answered(answer)
}

/// Returns the models, one line each, in the CLI's words.
pub async fn models(program: &Path) -> Result<Vec<String>, ErrorData> {
    let text = answered(probe(program, &["models"], None).await?)?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.to_lowercase().starts_with("available models"));
    Ok(lines.map(str::to_owned).collect())
}

/// Tells whether the CLI speaks ACP, by what it says of that command; nothing is started for it.
///
/// A CLI without the command shows the help of the whole program instead.
pub async fn offers_acp(program: &Path) -> bool {
    let help = probe(program, &["acp", "--help"], None).await;
    help.is_ok_and(|help| help.exit.is_success() && is_help_of_acp(&help.stdout))
}

fn is_help_of_acp(help: &str) -> bool {
    let usage = help
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("Usage:"));
    usage.is_some_and(|usage| usage.split_whitespace().any(|word| word == "acp"))
}

/// Returns which of these options the CLI does not have, by its own help.
pub async fn missing_options(program: &Path, options: &[&str]) -> Result<Vec<String>, ErrorData> {
    let help = answered(probe(program, &["--help"], None).await?)?;
    let has = |option: &str| {
        let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
        help.split(is_end).any(|word| word == option)
    };
    let missing = options.iter().filter(|option| !has(option));
    Ok(missing.map(|option| (*option).to_owned()).collect())
}

/// Makes an empty chat in a directory and returns its id.
pub async fn create_chat(program: &Path, cwd: Option<&PathBuf>) -> Result<String, ErrorData> {
    let text = answered(probe(program, &["create-chat"], cwd).await?)?;
    // The id is the last word; an update notice may stand before it.
    let id = text.split_whitespace().last().unwrap_or_default();
    if uuid::Uuid::parse_str(id).is_err() {
        return Err(ErrorData::new(
            ErrorCode::Protocol,
            format!("create-chat answered {}, which is no chat id", quoted(&text)),
        ));
    }
    Ok(id.to_owned())
}

fn answered(answer: Probe) -> Result<String, ErrorData> {
    if answer.exit.is_success() && !answer.stdout.is_empty() {
        return Ok(answer.stdout);
    }
    Err(exit_error(answer.exit, &answer.stderr, &answer.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_help_of_the_command_itself_says_that_it_is_there() {
        assert!(is_help_of_acp(
            "Usage: agent acp [options]\n\nStart the ACP server"
        ));
        assert!(!is_help_of_acp(
            "Usage: agent [options] [command] [prompt...]\n\n  acp  somewhere"
        ));
        assert!(!is_help_of_acp(""));
    }
}
