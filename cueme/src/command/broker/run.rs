//! `cueme broker run`: be the broker.

use std::sync::Arc;

use cueme_broker::{ServeOptions, serve};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use super::chats::CursorChats;
use super::guide::guide;
use crate::error::CliError;

pub(super) fn run(places: Places, is_background: bool) -> Result<Exit, CliError> {
    match serve(&ServeOptions {
        places,
        is_background,
        chats: Arc::new(CursorChats),
        guide,
    }) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            let failed = CliError::no_broker(error.to_string());
            Err(match error.hint() {
                Some(hint) => failed.with_hint(hint),
                None => failed,
            })
        }
    }
}
