//! Dispatches the subcommands of `cueme chats`.

use adapter_core::cursor::chats::ChatsRoot;
use protocol_spec::exit::Exit;

use super::failed::failed;
use super::{ls, show, watch};
use crate::cli::{ChatsArgs, ChatsVerb};
use crate::error::CliError;

/// Does what was asked of the chats.
pub(in crate::command) fn run(args: &ChatsArgs) -> Result<Exit, CliError> {
    let root = ChatsRoot::from_env().map_err(|error| failed(&error))?;
    match &args.verb {
        ChatsVerb::Ls(args) => ls::run(&root, args),
        ChatsVerb::Show(args) => show::run(&root, args),
        ChatsVerb::Watch(args) => watch::run(&root, args),
    }
}
