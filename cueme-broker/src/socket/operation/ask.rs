//! An agent asks, and waits.

use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::message::{Ask, ErrorCode, Failure, NONCE_BYTES_MAX};
use protocol_spec::payload::Payload;

use super::Next;
use crate::engine::Work;

pub(in crate::socket) fn ask(ask: Ask) -> Result<Next, Failure> {
    check_ask(ask).map(Next::Wait)
}

/// Limits the mark of a turn, which the store keeps with each receipt, in an index.
pub(super) fn check_nonce(nonce: Option<&str>) -> Result<(), Failure> {
    let bytes = nonce.map_or(0, str::len);
    if bytes <= NONCE_BYTES_MAX {
        return Ok(());
    }
    let message = format!("a nonce of {bytes} bytes is longer than {NONCE_BYTES_MAX}");
    Err(Failure::new(ErrorCode::TooLarge, message).with_hint("use a UUID for each turn"))
}

/// Checks a question once more: the socket is open to any program, not only to ours.
pub(crate) fn check_ask(ask: Ask) -> Result<Work, Failure> {
    if ask.prompt.len() > PROMPT_BYTES_MAX {
        let message = format!(
            "a prompt of {} bytes is longer than {PROMPT_BYTES_MAX}",
            ask.prompt.len()
        );
        return Err(Failure::new(ErrorCode::TooLarge, message)
            .with_hint("write the text to a file and name its path in the prompt"));
    }
    check_nonce(ask.nonce.as_deref())?;
    if ask.prompt.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "the prompt is empty"));
    }
    let payload = match &ask.payload {
        None => None,
        Some(written) => {
            let payload = Payload::parse(written.get()).map_err(|error| {
                Failure::new(ErrorCode::BadRequest, format!("payload: {error}")).with_hint(error.hint())
            })?;
            Some(payload.written().to_owned())
        }
    };
    if ask.kind == protocol_spec::outcome::Kind::Pause && payload.is_some() {
        return Err(Failure::new(ErrorCode::BadRequest, "a pause takes no payload"));
    }
    Ok(Work::ask(ask.agent_id, ask.kind, ask.prompt, payload, ask.origin))
}
