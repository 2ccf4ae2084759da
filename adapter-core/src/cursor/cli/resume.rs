//! Proves from the chat store that a turn continued the chat it was told to continue.
//!
//! `--resume` with an id the CLI does not know succeeds, and begins a new chat under that id: the exit code proves
//! nothing. Nothing here changes the store, and a store that cannot be read proves nothing either way.

use std::path::Path;

use crate::contract::{ErrorCode, ErrorData, Resumption};
use crate::cursor::chats::{ChatMark, ChatsError, ChatsRoot, mark_chat, project_id};

/// The state of a chat in the store before a turn continues it.
#[derive(Debug)]
pub(crate) struct ResumeProof<'a> {
    root: &'a ChatsRoot,
    chat: &'a str,
    cwd: &'a Path,
    before: Option<ChatMark>,
}

impl<'a> ResumeProof<'a> {
    /// Looks at a chat before the turn.
    pub(crate) fn begin(root: &'a ChatsRoot, chat: &'a str, cwd: &'a Path) -> Self {
        Self {
            root,
            chat,
            cwd,
            before: mark(root, chat, cwd),
        }
    }

    /// Looks again after the turn.
    pub(crate) fn conclude(self) -> Resumption {
        match (self.before, mark(self.root, self.chat, self.cwd)) {
            (_, None) => Resumption::Unproved("there is no store of this chat"),
            (None, Some(_)) => Resumption::Forgotten,
            (Some(before), Some(after)) if before.is_continued_by(&after) => Resumption::Continued,
            (Some(before), Some(after)) if after.begins_with(&before) => {
                Resumption::Unproved("the store has no new turn")
            }
            (Some(_), Some(_)) => Resumption::Forgotten,
        }
    }
}

fn mark(root: &ChatsRoot, chat: &str, cwd: &Path) -> Option<ChatMark> {
    let store = root.find(chat, Some(cwd)).ok()?;
    mark_chat(&store)
        .inspect_err(|error| tracing::debug!(%error, "could not read the store of a chat"))
        .ok()
}

/// Refuses a chat that a directory does not have, where the chats of this machine can be read.
///
/// # Errors
///
/// Fails with `SESSION_NOT_FOUND` when there are chats and this is none of them, or it belongs elsewhere.
pub fn check_chat(root: &ChatsRoot, chat: &str, cwd: &Path) -> Result<(), ErrorData> {
    if !root.dir().is_dir() {
        return Ok(());
    }
    let missing = |message: String| ErrorData::new(ErrorCode::SessionNotFound, message);
    match root.find(chat, Some(cwd)) {
        Ok(store) => match home_of(root, chat).filter(|_| !is_of(&store, cwd)) {
            Some(home) => Err(missing(format!(
                "the chat {chat} belongs to {home}, not to {}",
                cwd.display()
            ))),
            None => Ok(()),
        },
        Err(error @ (ChatsError::UnknownChat { .. } | ChatsError::InvalidChatId { .. })) => {
            Err(missing(error.to_string()))
        }
        Err(_) => Ok(()),
    }
}

fn is_of(store: &Path, cwd: &Path) -> bool {
    let project = store.parent().and_then(Path::parent).and_then(Path::file_name);
    project_id(cwd).is_ok_and(|id| project == Some(id.as_ref()))
}

/// Returns the directory that a chat belongs to, where Cursor wrote it down.
fn home_of(root: &ChatsRoot, chat: &str) -> Option<String> {
    let chats = root
        .list()
        .ok()?
        .projects
        .into_iter()
        .flat_map(|project| project.chats);
    chats.into_iter().find(|found| found.chat_id == chat)?.cwd
}
