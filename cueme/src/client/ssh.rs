//! Reaching a broker over SSH: `ssh -W` carries one connection, so one that is lost is made anew like every other.
//!
//! Nothing stays behind between two calls. `ssh` is never asked for a password, because nobody may be there to type it.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Output, Stdio};

use rustix::fs::{OFlags, fcntl_setfl};

use crate::error::CliError;

/// Options of every `ssh` here: no questions, and a connection that is dead is noticed.
const OPTIONS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oLogLevel=ERROR",
    "-oConnectTimeout=15",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=3",
];
/// The limit on the output of `ssh` that an error repeats, in bytes.
const COMPLAINT_BYTES_MAX: u64 = 1000;

/// A connection to an address that a machine reaches, which ends with its `ssh`.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(super) stream: UnixStream,
    ssh: Child,
}

impl Tunnel {
    /// Connects to `host:port` as the machine at the other end sees it.
    pub(super) fn open(destination: &str, address: &str) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        let ssh = ssh()
            .args(["-W", address, "--", destination])
            .stdin(OwnedFd::from(theirs.try_clone()?))
            .stdout(OwnedFd::from(theirs))
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self { stream, ssh })
    }

    /// Returns what `ssh` said, once the connection has ended.
    pub(super) fn complaint(&mut self) -> Option<String> {
        let stderr = self.ssh.stderr.take()?;
        // Another process may hold it open, such as one that shares its connection.
        fcntl_setfl(&stderr, OFlags::NONBLOCK).ok()?;
        let mut said = Vec::new();
        // Text that was read before an error is kept.
        let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_end(&mut said);
        last_line(&said)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.ssh.kill();
        let _ = self.ssh.wait();
    }
}

/// Runs `cueme` on another machine, and returns what it printed.
pub(crate) fn run_there(destination: &str, words: &[&str]) -> Result<String, CliError> {
    let line = shlex::try_join(std::iter::once("cueme").chain(words.iter().copied()))
        .map_err(|error| CliError::usage(error.to_string()))?;
    let output = ssh()
        .args(["--", destination, &line])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| CliError::no_broker(format!("could not run ssh: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(failed(destination, &output))
}

/// Says whether this names a machine as `ssh` does, with the user, and nothing that `ssh` would take for an option.
pub(crate) fn is_destination(text: &str) -> bool {
    let name = text.strip_prefix("ssh://").unwrap_or(text);
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"\\/".contains(&byte);
    let has_user = name.contains('@') && !name.contains("://");
    has_user && !name.starts_with(['-', '@']) && name.bytes().all(is_plain)
}

fn ssh() -> Command {
    let mut command = Command::new("ssh");
    command.args(OPTIONS);
    command
}

fn failed(destination: &str, output: &Output) -> CliError {
    let said = last_line(&output.stderr).unwrap_or_else(|| output.status.to_string());
    let message = format!("could not run cueme at {destination} over SSH: {said}");
    let hint = match output.status.code() {
        Some(127) => format!("install cueme there, on the PATH of `ssh {destination} 'echo $PATH'`"),
        _ => format!("`ssh -oBatchMode=yes {destination} cueme --version` has to work without a question"),
    };
    CliError::no_broker(message).with_hint(hint)
}

fn last_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_user_at_a_machine_and_no_option() {
        for good in ["ada@devbox", "ada@10.0.0.7", "ssh://ada@devbox:2222", "ada@[::1]"] {
            assert!(is_destination(good), "{good}");
        }
        for bad in [
            "devbox",
            "https://ada@inbox.example",
            "-oProxyCommand=x@y",
            "@devbox",
            "ada@dev box",
            "ada@devbox\n",
            "ada@devbox/'x'",
            "",
        ] {
            assert!(!is_destination(bad), "{bad}");
        }
    }
}
