//! `cueme chats watch`: tells what happens to chats, until it is interrupted or its reader leaves.

use std::sync::mpsc;

use adapter_core::cursor::chats::{Change, ChatEvent, ChatsRoot, watch_chats};
use protocol_spec::exit::Exit;

use super::failed::failed;
use crate::cli::ChatsWatchArgs;
use crate::display::visible_line;
use crate::error::CliError;
use crate::output;

/// The capacity of the queue of unprinted events; a full queue pauses the watcher, which then reads the newest state.
const EVENTS_WAITING_MAX: usize = 1_024;

pub(super) fn run(root: &ChatsRoot, args: &ChatsWatchArgs) -> Result<Exit, CliError> {
    let (sender, events) = mpsc::sync_channel(EVENTS_WAITING_MAX);
    let _watcher = watch_chats(root, move |event| {
        // The receiver goes only when the whole program does.
        let _ = sender.send(event);
    })
    .map_err(|error| failed(&error))?;
    output::tell(&format!("watching {}", root.dir().display()));
    let is_json = args.json || !output::is_terminal();
    for event in events {
        let line = if is_json {
            output::json_line(&event)?
        } else {
            words(&event)
        };
        output::print_line(&line)?;
    }
    Ok(Exit::Done)
}

fn words(event: &ChatEvent) -> String {
    let change = match event.change {
        Change::Created => "new    ",
        Change::Changed => "changed",
        Change::Removed => "removed",
    };
    format!("{change}  {}", visible_line(&event.chat_id))
}
