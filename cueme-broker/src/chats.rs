//! Chats that a runtime keeps on disk, as the page shows them.
//!
//! The broker knows no runtime's files: the command that starts it brings a [`ChatReader`].

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The most messages shown at once.
pub const CHAT_MESSAGES_MAX: usize = 100;

/// Reads chats, without changing them.
pub trait ChatReader: fmt::Debug + Send + Sync {
    /// Returns the last [`CHAT_MESSAGES_MAX`] messages before message `before` of the first chat that exists.
    ///
    /// # Errors
    ///
    /// Fails with a sentence for a person if a chat exists and cannot be read.
    fn read(&self, places: &[ChatPlace], before: Option<usize>) -> Result<Option<ChatPart>, String>;
}

/// The possible place of a chat.
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
    /// The index in the chat of the first message here.
    pub first: usize,
    /// The number of messages in the chat.
    pub total: usize,
    /// Oldest first.
    pub messages: Vec<ChatMessage>,
    /// Warnings about unreadable parts.
    pub warnings: Vec<String>,
}

/// A message of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatMessage {
    /// `user`, `assistant`, `thinking` or `tool`.
    pub role: &'static str,
    /// The text, truncated.
    pub text: String,
    /// The tool calls.
    pub tools: Vec<ChatTool>,
}

/// A call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatTool {
    /// Its name.
    pub name: String,
    /// Its arguments, as JSON.
    pub args: String,
    /// Its outcome.
    pub outcome: Option<String>,
    /// Its result.
    pub result: String,
    /// Whether it failed.
    pub is_error: bool,
}
