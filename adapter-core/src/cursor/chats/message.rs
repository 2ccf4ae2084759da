//! A chat as anyone would want to read it: messages in the order the user saw them.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::blob_id::BlobId;
use super::text::Text;
use super::tool::{RawToolCall, decode_tool_call, result_text};

/// A chat read from its store.
#[derive(Debug, Clone, Serialize)]
pub struct Chat {
    /// The id Cursor knows the chat by.
    pub chat_id: String,
    /// The title, where the chat has one.
    pub name: Option<String>,
    /// The agent's mode, for example `default` or `plan`.
    pub mode: Option<String>,
    /// When the chat was created, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The part of the store that the messages were read from.
    pub source: Source,
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The parts that could not be read.
    pub warnings: Vec<Warning>,
}

/// The part of a store that messages can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// There were no messages to read.
    Empty,
    /// The turns, which are what the user saw.
    Turns,
    /// The prompt as last sent to the model; after a compaction it is a summary.
    Prompt,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The human, including shell commands typed into the chat.
    User,
    /// The agent's words.
    Assistant,
    /// The agent's reasoning.
    Thinking,
    /// A tool the agent used, with its result.
    Tool,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatMessage {
    /// The author.
    pub role: Role,
    /// The text; empty for tools.
    pub text: Text,
    /// The tools used in this message.
    pub tools: Vec<ToolUse>,
    /// Cursor's id for a user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<Text>,
    /// The request that this message's turn was, where the turn says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Text>,
    /// The agent's thinking time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The stored form this message was read from.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "blob_id_only",
        rename = "blob_id"
    )]
    pub original: Option<Original>,
}

impl ChatMessage {
    /// Makes a message of text alone.
    pub fn new(role: Role, text: impl Into<Text>) -> Self {
        ChatMessage {
            role,
            text: text.into(),
            tools: Vec::new(),
            message_id: None,
            request_id: None,
            duration_ms: None,
            original: None,
        }
    }
}

/// The blob a message was read from, for readers that need the data which the unified form leaves out.
#[derive(Clone, PartialEq, Eq)]
pub struct Original {
    /// The id of the blob in the store.
    pub blob_id: BlobId,
    /// The blob. Messages of one chat share the memory their blobs were read into.
    pub data: Bytes,
}

impl fmt::Debug for Original {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Original({}, {} bytes)", self.blob_id, self.data.len())
    }
}

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The normalised name, for example `Bash`.
    pub name: Cow<'static, str>,
    /// Cursor's own key, for example `shellToolCall`.
    pub key: Cow<'static, str>,
    /// The field number in the store, where the tool came from there.
    pub oneof_field: Option<u32>,
    /// The id that ties call and result together. It may contain a line break.
    pub call_id: Option<Text>,
    /// The steps of a sub-agent, for tools that start one.
    pub steps: Vec<ChatMessage>,
    /// The rest, which few readers of a chat look at.
    pub(super) detail: Detail,
}

/// The arguments and the result of a tool, decoded or not yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Detail {
    Stored(RawToolCall),
    Decoded(Box<ToolDetail>),
}

/// The arguments and the result of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDetail {
    /// The arguments.
    pub args: Value,
    /// The result's variant, for example `success` or `rejected`; none while there is no result.
    pub outcome: Option<Cow<'static, str>>,
    /// Whether the tool did not do what it was asked.
    pub is_error: bool,
    /// The exit code of a shell command that ended.
    pub exit_code: Option<i64>,
    /// The result as stored, with fields we have no name for under `#<number>`.
    pub output: Value,
}

impl ToolUse {
    /// Returns the arguments and the result. Decodes them, so keep what is returned.
    pub fn detail(&self) -> Cow<'_, ToolDetail> {
        match &self.detail {
            Detail::Stored(call) => Cow::Owned(decode_tool_call(call)),
            Detail::Decoded(detail) => Cow::Borrowed(detail),
        }
    }

    /// Returns the result as text.
    pub fn result(&self) -> String {
        self.result_of(&self.detail()).into_owned()
    }

    fn result_of<'a>(&'a self, detail: &'a ToolDetail) -> Cow<'a, str> {
        let last_word = self.steps.iter().rev().find(|step| step.role == Role::Assistant);
        match (last_word, &detail.outcome) {
            (Some(step), _) => Cow::Borrowed(&step.text),
            (None, Some(outcome)) => result_text(detail.output.get(&**outcome).unwrap_or(&detail.output)),
            (None, None) => Cow::Borrowed(""),
        }
    }
}

impl Serialize for ToolUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let detail = self.detail();
        let mut tool = serializer.serialize_struct("ToolUse", 11)?;
        tool.serialize_field("name", &self.name)?;
        tool.serialize_field("key", &self.key)?;
        match self.oneof_field {
            Some(field) => tool.serialize_field("oneof_field", &field)?,
            None => tool.skip_field("oneof_field")?,
        }
        tool.serialize_field("call_id", &self.call_id)?;
        tool.serialize_field("args", &detail.args)?;
        tool.serialize_field("outcome", &detail.outcome)?;
        tool.serialize_field("is_error", &detail.is_error)?;
        match detail.exit_code {
            Some(code) => tool.serialize_field("exit_code", &code)?,
            None => tool.skip_field("exit_code")?,
        }
        tool.serialize_field("result", &self.result_of(&detail))?;
        tool.serialize_field("output", &detail.output)?;
        match self.steps.as_slice() {
            [] => tool.skip_field("steps")?,
            steps => tool.serialize_field("steps", steps)?,
        }
        tool.end()
    }
}

/// Something in the store that could not be read; the chat goes on without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The metadata row is missing or makes no sense.
    Metadata(String),
    /// The root names the whole conversation, and is not in the store.
    RootMissing(String),
    /// The root is in the store and is not a conversation.
    RootUnreadable {
        /// The root's id.
        id: String,
        /// The reason.
        reason: String,
    },
    /// A part of the conversation is not in the store.
    BlobMissing {
        /// The part, for example `turn 3`.
        part: String,
        /// The id of the blob.
        id: String,
    },
    /// A part of the conversation is in the store and makes no sense.
    BlobUnreadable {
        /// The part.
        part: String,
        /// The reason.
        reason: String,
    },
    /// The database is damaged or cut short.
    Damaged(String),
    /// A limit was reached, and what lies beyond it was left out.
    LimitReached(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Metadata(reason) => write!(f, "chat metadata is unreadable: {reason}"),
            Warning::RootMissing(id) => write!(f, "root blob {id} is missing"),
            Warning::RootUnreadable { id, reason } => write!(f, "root blob {id} is unreadable: {reason}"),
            Warning::BlobMissing { part, id } => write!(f, "{part}: blob {id} is missing"),
            Warning::BlobUnreadable { part, reason } => write!(f, "{part} is unreadable: {reason}"),
            Warning::Damaged(reason) => write!(f, "database is damaged: {reason}"),
            Warning::LimitReached(what) => write!(f, "left out: {what}"),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn blob_id_only<S: Serializer>(original: &Option<Original>, serializer: S) -> Result<S::Ok, S::Error> {
    match original {
        Some(original) => serializer.collect_str(&original.blob_id),
        None => serializer.serialize_none(),
    }
}
