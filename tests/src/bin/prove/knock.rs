//! A process that only tries to be heard on a broker's socket, such as one of another user.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// Says that this process only tries to be heard on a socket; its value is the socket.
pub(crate) const KNOCK: &str = "CUEME_PROVE_KNOCK";
/// The exit code of a knock if the broker closed without a reply.
pub(crate) const CLOSED: u8 = 10;
/// The exit code of a knock if it could not connect.
pub(crate) const KEPT_OUT: u8 = 11;
/// The exit code of a knock that was answered.
pub(crate) const ANSWERED: u8 = 12;

/// Does what this process was started for, if that is to knock.
pub(crate) fn child() -> Option<ExitCode> {
    let socket = std::env::var_os(KNOCK)?;
    let Ok(mut stream) = UnixStream::connect(socket) else {
        return Some(ExitCode::from(KEPT_OUT));
    };
    let line = b"{\"v\":1,\"id\":\"018f0000-0000-7000-8000-000000000000\",\"op\":\"status\",\"body\":{}}\n";
    // A broker that closes at once may do so before this is written.
    let _ = std::io::Write::write_all(&mut stream, line);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let mut first = [0];
    let code = match stream.read(&mut first) {
        Ok(0) => CLOSED,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => CLOSED,
        Ok(_) | Err(_) => ANSWERED,
    };
    Some(ExitCode::from(code))
}
