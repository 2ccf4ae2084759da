//! `cueme chats ls`: which chats there are.

use adapter_core::cursor::chats::{ChatsRoot, listing_text};
use protocol_spec::exit::Exit;

use super::failed::failed;
use crate::cli::ChatsLsArgs;
use crate::display::visible_line;
use crate::error::CliError;
use crate::output;

pub(super) fn run(root: &ChatsRoot, args: &ChatsLsArgs) -> Result<Exit, CliError> {
    let listing = match &args.project {
        Some(project) => root.list_for(project),
        None => root.list(),
    };
    let listing = listing.map_err(|error| failed(&error))?;
    for warning in &listing.warnings {
        output::tell(&format!("warning: {}", visible_line(&warning.to_string())));
    }
    if listing.projects.is_empty() {
        output::tell(&format!("warning: no chats under {}", root.dir().display()));
    }
    if args.json {
        output::print_json(&listing)?;
    } else {
        output::print_foreign(&listing_text(&listing))?;
    }
    Ok(Exit::Done)
}
