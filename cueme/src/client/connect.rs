//! Connects to a broker that is already running.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;

use protocol_spec::endpoint::Places;

use super::trust::{check_directory, check_peer};
use crate::error::CliError;

/// Connects to this user's broker, or returns `None` when none is running.
pub(crate) fn connect(places: &Places) -> Result<Option<UnixStream>, CliError> {
    check_directory(&places.socket_dir)?;
    check_directory(&places.data_dir)?;
    let socket = places.socket();
    match UnixStream::connect(&socket) {
        Ok(stream) => {
            check_peer(&stream, &socket)?;
            Ok(Some(stream))
        }
        Err(error) if is_nobody_there(&error) => Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(sandboxed(&socket, &error)),
        Err(error) => {
            let message = format!("could not connect to the broker at {}: {error}", socket.display());
            Err(CliError::no_broker(message).with_hint("run `cueme doctor` to see what is wrong"))
        }
    }
}

/// The socket is ours, so only a sandbox around this process can forbid it: Codex runs commands in one.
fn sandboxed(socket: &Path, error: &io::Error) -> CliError {
    let message = format!(
        "sandboxed: use the MCP tool `cue` of the server `cueme` (also `join`, `recall`, `pause`); this shell may not \
         connect to {}: {error}",
        socket.display()
    );
    CliError::no_broker(message).with_hint(
        "without MCP tools, write one plain command, which Codex runs outside of its sandbox: \
         `cueme cue <agent_id> --prompt '...' --payload '{...}'`",
    )
}

fn is_nobody_there(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
    )
}
