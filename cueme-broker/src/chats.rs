//! Chats that a runtime keeps on disk, as the page shows them.
//!
//! The broker knows no runtime's files: the command that starts it brings a [`ChatReader`].

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// How many messages are shown at once.
pub const CHAT_MESSAGES_MAX: usize = 100;

/// Reads chats. It changes nothing of theirs.
pub trait ChatReader: fmt::Debug + Send + Sync {
    /// Returns the last [`CHAT_MESSAGES_MAX`] messages before message `before` of the first chat that exists.
    ///
    /// # Errors
    ///
    /// Fails with a sentence for a person if a chat exists and cannot be read.
    fn read(&self, places: &[ChatPlace], before: Option<usize>) -> Result<Option<ChatPart>, String>;
}

/// Where a chat may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatPlace {
    /// The runtime's id of the chat.
    pub session: String,
    /// The folder that the agent works in.
    pub project: String,
}

/// A part of a chat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Chat")]
pub struct ChatPart {
    /// The runtime's id of the chat.
    pub chat_id: String,
    /// Its title.
    pub name: Option<String>,
    /// The mode that it was held in.
    pub mode: Option<String>,
    /// Which message of the chat the first one here is.
    pub first: usize,
    /// How many messages the chat has.
    pub total: usize,
    /// Oldest first.
    pub messages: Vec<ChatMessage>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A message of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatMessage {
    /// `user`, `assistant`, `thinking` or `tool`.
    pub role: &'static str,
    /// What was said, truncated.
    pub text: String,
    /// The tools that were called.
    pub tools: Vec<ChatTool>,
}

/// A call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatTool {
    /// Its name.
    pub name: String,
    /// What it was called with, as JSON.
    pub args: String,
    /// How it ended.
    pub outcome: Option<String>,
    /// What it returned.
    pub result: String,
    /// Whether it failed.
    pub is_error: bool,
}
