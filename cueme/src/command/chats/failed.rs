//! Converts an error of the library into one of this program.

use std::io::ErrorKind;

use adapter_core::cursor::chats::ChatsError;
use protocol_spec::exit::Exit;

use crate::error::CliError;

/// Describes why chats could not be read.
pub(in crate::command) fn failed(error: &ChatsError) -> CliError {
    let described = CliError::new(exit_of(error), error.to_string());
    match error.hint() {
        Some(hint) => described.with_hint(hint),
        None => described,
    }
}

fn exit_of(error: &ChatsError) -> Exit {
    match error {
        ChatsError::UnknownChat { .. } => Exit::NotFound,
        ChatsError::Io { source, .. } if source.kind() == ErrorKind::NotFound => Exit::NotFound,
        ChatsError::InvalidChatId { .. } | ChatsError::AmbiguousChat { .. } | ChatsError::NoHome => {
            Exit::Usage
        }
        _ => Exit::Io,
    }
}
