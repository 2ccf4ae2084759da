//! Proves that a chat was continued.
//!
//! `cursor-agent --resume` with an id it does not know succeeds and starts a new chat under that id, so its exit
//! code proves nothing. The user's messages are content-addressed and never rewritten: a chat that still begins with
//! all earlier messages of the user, and has more, is the same chat.

use std::path::Path;

use super::blob_id::BlobId;
use super::error::ChatsError;
use super::load::load_root;
use super::store::Blob;
use super::turn::{Turn, parse_turn};

/// The user's messages in a chat at some time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatMark {
    openings: Vec<Option<BlobId>>,
}

impl ChatMark {
    /// Returns the number of turns.
    pub fn turns(&self) -> usize {
        self.openings.len()
    }

    /// Tells whether `later` is this chat with at least one more turn.
    pub fn is_continued_by(&self, later: &ChatMark) -> bool {
        later.turns() > self.turns() && later.begins_with(self)
    }

    /// Tells whether this chat has everything that was said in `earlier`, with or without more.
    pub fn begins_with(&self, earlier: &ChatMark) -> bool {
        self.openings.starts_with(&earlier.openings)
    }
}

/// Takes the mark of the chat whose store is at `path`.
///
/// # Errors
///
/// Fails if the store cannot be opened. Parts that cannot be read are part of the mark as such.
pub fn mark_chat(path: &Path) -> Result<ChatMark, ChatsError> {
    let (store, root) = load_root(path)?;
    let opening = |id: &Vec<u8>| {
        let Ok(Blob::Found(data)) = store.blob(BlobId::from_bytes(id)?) else {
            return None;
        };
        match parse_turn(&data).ok()? {
            Turn::Agent(agent) => BlobId::from_bytes(agent.user?),
            Turn::Shell(shell) => BlobId::from_bytes(shell.command?),
        }
    };
    Ok(ChatMark {
        openings: root.turns.iter().map(opening).collect(),
    })
}
