//! Limits on the content of a request, for every caller.

use protocol_spec::message::{ErrorCode, Failure, MESSAGE_BYTES_MAX, NAME_BYTES_MAX};

pub(crate) fn check_names(names: &[&String]) -> Result<(), Failure> {
    if names.iter().any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("a name is longer than {NAME_BYTES_MAX} bytes"),
        ));
    }
    Ok(())
}

pub(super) fn check_by(by: Option<&String>) -> Result<(), Failure> {
    by.map_or(Ok(()), |by| check_names(&[by]))
}

pub(super) fn check_session(session: &String) -> Result<(), Failure> {
    if session.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "the session has no name")
            .with_hint("name the host's conversation, or leave `session` out"));
    }
    check_names(&[session])
}

pub(super) fn check_message(text: Option<&str>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    if text.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "the message is empty"));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("the message is longer than {MESSAGE_BYTES_MAX} bytes"),
        )
        .with_hint("write the text to a file and name its path"));
    }
    Ok(())
}
