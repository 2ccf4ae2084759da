//! The arguments of `chats`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  cueme chats ls
  cueme chats ls --project ~/src/shop --json
  cueme chats show 5b1f4bd6-6f0e-4f0a-9d3e-2f7b8a1c0d9e --markdown > chat.md
  cueme chats show ~/.cursor/chats/0cc175b9/5b1f4bd6/store.db --json
  cueme chats watch";

/// Arguments of `chats`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ChatsArgs {
    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: ChatsVerb,
}

/// The verbs of `cueme chats`; none of them changes files of Cursor.
#[derive(Debug, Subcommand)]
pub(crate) enum ChatsVerb {
    /// List the chats, most recent first
    Ls(ChatsLsArgs),
    /// Print one chat
    Show(ChatsShowArgs),
    /// Stay, and report chats that appear, change or disappear
    Watch(ChatsWatchArgs),
}

/// Arguments of `chats ls`.
#[derive(Debug, Args)]
pub(crate) struct ChatsLsArgs {
    /// Only the chats of this working directory
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `chats show`.
#[derive(Debug, Args)]
pub(crate) struct ChatsShowArgs {
    /// The chat's id, or the path of its store
    #[arg(value_name = "CHAT")]
    pub(crate) chat: String,
    /// The working directory of the chat, if several chats have the id
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown; the default
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Arguments of `chats watch`.
#[derive(Debug, Args)]
pub(crate) struct ChatsWatchArgs {
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}
