//! Requests of the tests to the broker, and their work in another process.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use protocol_spec::answer::Answer;
use protocol_spec::id::CueId;
use protocol_spec::message::{Ack, Ask, GiveAnswer, Request};
use protocol_spec::outcome::{Kind, Origin};

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

/// Asks in words alone.
pub(crate) fn ask(agent: &str, prompt: &str) -> Request {
    Request::Ask(Ask {
        agent_id: agent.parse().unwrap_or_else(|_| panic!("not an agent: {agent}")),
        kind: Kind::Cue,
        prompt: prompt.to_owned(),
        payload: None,
        origin: Origin::Agent,
        nonce: None,
    })
}

/// Answers in words alone.
pub(crate) fn answer(cue: &str, text: &str) -> Request {
    Request::Answer(GiveAnswer {
        cue: cue.to_owned(),
        answer: Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        },
        by: None,
        hold_ms: 0,
    })
}

/// Acknowledges one outcome.
pub(crate) fn ack(cue: CueId) -> Request {
    Request::Ack(Ack {
        cue_ids: vec![cue],
        nonce: None,
    })
}
