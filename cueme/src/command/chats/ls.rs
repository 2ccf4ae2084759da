//! `cueme chats ls`: which chats there are.

use adapter_core::cursor::chats::{ChatsRoot, listing_text};
use protocol_spec::exit::Exit;

use super::failed::failed;
use crate::cli::ChatsLsArgs;
use crate::error::CliError;
use crate::output;

pub(super) fn run(root: &ChatsRoot, args: &ChatsLsArgs) -> Result<Exit, CliError> {
    let listing = match &args.project {
        Some(project) => root.list_for(project),
        None => root.list(),
    };
    let listing = listing.map_err(|error| failed(&error))?;
    for warning in &listing.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    if listing.projects.is_empty() {
        output::tell(&format!("warning: no chats under {}", root.dir().display()));
    }
    if args.json {
        output::print_line(&serde_json::to_string(&listing).unwrap_or_default())?;
    } else {
        output::print(&listing_text(&listing))?;
    }
    Ok(Exit::Done)
}
