//! `cueme chats show`: one chat whole.

use adapter_core::cursor::chats::{ChatsRoot, chat_markdown, load_chat};
use protocol_spec::exit::Exit;

use super::failed::failed;
use crate::cli::ChatsShowArgs;
use crate::display::visible_line;
use crate::error::CliError;
use crate::output;

pub(super) fn run(root: &ChatsRoot, args: &ChatsShowArgs) -> Result<Exit, CliError> {
    // A directory that is gone has no chats of its own, and the others can still be meant.
    let here = args.project.clone().or_else(|| std::env::current_dir().ok());
    let store = root.resolve(&args.chat, here.as_deref());
    let chat = store.and_then(|store| load_chat(&store));
    let chat = chat.map_err(|error| failed(&error))?;
    for warning in &chat.warnings {
        output::tell(&format!("warning: {}", visible_line(&warning.to_string())));
    }
    if args.json {
        output::print_json(&chat)?;
    } else {
        output::print_foreign(&chat_markdown(&chat))?;
    }
    Ok(Exit::Done)
}
