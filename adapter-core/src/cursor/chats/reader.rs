//! Collects the messages of a conversation.
//!
//! Order comes from the root's list of turns and never from the order of rows. Missing or broken parts become warnings
//! and are skipped.

use bytes::Bytes;
use serde_json::Value;

use super::blob_id::BlobId;
use super::message::{ChatMessage, Detail, Original, Role, Source, ToolUse, Warning};
use super::prompt::PromptReader;
use super::schema::{DEPTH_MAX, text};
use super::store::{Blob, ChatStore};
use super::text::Text;
use super::tool::{
    RawToolCall, TASK_FIELD, TRUNCATED_FIELD, content_blob, split_tool_call, task_steps, tool_use,
};
use super::turn::{
    AgentTurn, ShellTurn, Turn, assistant_message, parse_turn, shell_message, thinking_message,
};
use super::wire::{Fields, WireError, last_bytes};

/// The most messages of one chat.
const MESSAGES_MAX: usize = 1_000_000;
/// A rough number of messages per turn, for reserving memory.
const MESSAGES_A_TURN: usize = 4;
/// The most bytes of blobs that messages are made from; one blob may be named any number of times.
const BYTES_MAX: usize = 512 << 20;
/// The most warnings about one chat.
const WARNINGS_MAX: usize = 100;

/// The conversation as a root names it: the ids as they stand, valid or not.
#[derive(Debug, Default)]
pub(super) struct Root {
    pub(super) turns: Vec<Vec<u8>>,
    pub(super) prompt: Vec<Vec<u8>>,
}

impl Root {
    pub(super) fn has_messages(&self) -> bool {
        !self.turns.is_empty() || !self.prompt.is_empty()
    }
}

/// Collects messages and warnings.
#[derive(Debug)]
pub(super) struct Reader<'s> {
    store: &'s ChatStore,
    messages: Vec<ChatMessage>,
    warnings: Vec<Warning>,
    bytes: usize,
    is_full: bool,
}

impl<'s> Reader<'s> {
    pub(super) fn new(store: &'s ChatStore, warnings: Vec<Warning>) -> Self {
        Reader {
            store,
            messages: Vec::new(),
            warnings,
            bytes: 0,
            is_full: false,
        }
    }

    /// Reads everything that a root leads to.
    pub(super) fn read(&mut self, root: &Root) -> Source {
        if !root.turns.is_empty() {
            self.messages
                .reserve(root.turns.len().saturating_mul(MESSAGES_A_TURN).min(MESSAGES_MAX));
            for (index, id) in root.turns.iter().enumerate() {
                self.read_turn(index + 1, id);
                if self.is_full {
                    break;
                }
            }
            Source::Turns
        } else if !root.prompt.is_empty() {
            self.read_prompt(&root.prompt);
            Source::Prompt
        } else {
            Source::Empty
        }
    }

    pub(super) fn finish(self) -> (Vec<ChatMessage>, Vec<Warning>) {
        (self.messages, self.warnings)
    }

    fn read_prompt(&mut self, ids: &[Vec<u8>]) {
        let mut prompt = PromptReader::default();
        for (index, id) in ids.iter().enumerate() {
            let part = || format!("prompt message {}", index + 1);
            let Some((id, data)) = self.find(id, part) else {
                continue;
            };
            if let Err(reason) = prompt.push(id, &data) {
                self.warn(Warning::BlobUnreadable { part: part(), reason });
            }
        }
        self.messages = prompt.into_messages();
    }

    fn read_turn(&mut self, turn: usize, id: &[u8]) {
        let part = || format!("turn {turn}");
        let Some((_, data)) = self.find(id, part) else {
            return;
        };
        match parse_turn(&data) {
            Ok(Turn::Agent(agent)) => self.read_agent_turn(turn, &data, &agent),
            Ok(Turn::Shell(shell)) => self.read_shell_turn(turn, shell),
            Err(reason) => self.warn(Warning::BlobUnreadable { part: part(), reason }),
        }
    }

    fn read_agent_turn(&mut self, turn: usize, blob: &Bytes, agent: &AgentTurn<'_>) {
        let request_id = agent.request_id.map(|id| Text::within(blob, id));
        if let Some(id) = agent.user {
            let part = || format!("turn {turn}, user message");
            if let Some((id, data)) = self.find(id, part) {
                match self.user_message(&data, part) {
                    Ok(message) => self.push(message, request_id.clone(), id, data),
                    Err(error) => self.warn_wire(part(), error),
                }
            }
        }
        for (index, id) in agent.steps.iter().enumerate() {
            let part = || format!("turn {turn}, step {}", index + 1);
            let Some((id, data)) = self.find(id, part) else {
                continue;
            };
            match self.step_message(&data, &data, 0, &part) {
                Ok(Some(message)) => self.push(message, request_id.clone(), id, data),
                Ok(None) => self.warn(Warning::BlobUnreadable {
                    part: part(),
                    reason: "it is of a kind we do not know".to_owned(),
                }),
                Err(error) => self.warn_wire(part(), error),
            }
            if self.is_full {
                return;
            }
        }
    }

    fn read_shell_turn(&mut self, turn: usize, shell: ShellTurn<'_>) {
        let command = shell
            .command
            .and_then(|id| self.find(id, || format!("turn {turn}, command")));
        let output = shell
            .output
            .and_then(|id| self.find(id, || format!("turn {turn}, output")));
        let blob = |found: &Option<(BlobId, Bytes)>| found.as_ref().map(|(_, data)| data.clone());
        let message = shell_message(blob(&command).as_ref(), blob(&output).as_ref());
        let Some((id, data)) = command.or(output) else {
            return;
        };
        match message {
            Ok(message) => self.push(message, None, id, data),
            Err(error) => self.warn_wire(format!("turn {turn}"), error),
        }
    }

    fn user_message(&mut self, data: &Bytes, part: impl Fn() -> String) -> Result<ChatMessage, WireError> {
        let mut message = ChatMessage::new(Role::User, Text::default());
        let mut text_blob = None;
        for field in Fields::new(data) {
            let field = field?;
            match (field.number, field.value.bytes()) {
                (1, Some(words)) => message.text = Text::within(data, words),
                (2, Some(id)) => message.message_id = Some(Text::within(data, id)),
                (18, Some(id)) => text_blob = Some(id),
                _ => {}
            }
        }
        // A long text is kept in a blob of its own, and what stands in its place is a preview.
        if let Some(id) = text_blob.filter(|id| !id.is_empty())
            && let Some((_, data)) = self.find(id, || format!("{}, text", part()))
        {
            message.text = Text::within(&data, &data);
        }
        Ok(message)
    }

    /// Makes a step, a part of `blob`, a message; none if it is of an unknown kind.
    fn step_message(
        &mut self,
        blob: &Bytes,
        step: &[u8],
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<Option<ChatMessage>, WireError> {
        let mut message = None;
        for field in Fields::new(step) {
            let field = field?;
            let Some(body) = field.value.bytes() else { continue };
            message = match field.number {
                1 => Some(assistant_message(blob, body)?),
                2 => Some(self.tool_message(blob, body, depth, part)?),
                3 => Some(thinking_message(blob, body)?),
                _ => message,
            };
        }
        Ok(message)
    }

    fn tool_message(
        &mut self,
        blob: &Bytes,
        body: &[u8],
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<ChatMessage, WireError> {
        let (call, call_id) = split_tool_call(blob, body)?;
        if call.field == Some(TRUNCATED_FIELD)
            && depth < DEPTH_MAX
            && let Some(message) = self.original_step(&call, depth, part)?
        {
            return Ok(message);
        }
        let mut tool = tool_use(call.clone(), call_id);
        if call.field == Some(TASK_FIELD) && depth < DEPTH_MAX {
            for step in task_steps(&call.body)? {
                tool.steps
                    .extend(self.step_message(&call.body, step, depth + 1, part)?);
            }
        }
        if let Some(id) = content_blob(&call)
            && let Some((_, data)) = self.find(id, || format!("{}, content", part()))
        {
            set_content(&mut tool, &data);
        }
        let mut message = ChatMessage::new(Role::Tool, Text::default());
        message.tools.push(tool);
        Ok(message)
    }

    /// Follows a truncated call to the step it stands for, if that is still in the store.
    fn original_step(
        &mut self,
        call: &RawToolCall,
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<Option<ChatMessage>, WireError> {
        let Some(id) = last_bytes(&call.body, 1)? else {
            return Ok(None);
        };
        match self.find(id, || format!("{}, original", part())) {
            Some((_, data)) => self.step_message(&data, &data, depth + 1, part),
            None => Ok(None),
        }
    }

    /// Looks a blob up and warns if it is not there.
    fn find(&mut self, id: &[u8], part: impl Fn() -> String) -> Option<(BlobId, Bytes)> {
        let Some(id) = BlobId::from_bytes(id) else {
            let reason = format!("its id has {} bytes instead of 32", id.len());
            self.warn(Warning::BlobUnreadable { part: part(), reason });
            return None;
        };
        let warning = match self.store.blob(id) {
            Ok(Blob::Found(data)) => {
                self.bytes += data.len();
                if self.bytes <= BYTES_MAX {
                    return Some((id, data));
                }
                self.is_full = true;
                Warning::LimitReached(format!("everything after {BYTES_MAX} bytes, from {}", part()))
            }
            Ok(Blob::Missing) => Warning::BlobMissing {
                part: part(),
                id: id.to_string(),
            },
            Ok(Blob::TooLarge(bytes)) => Warning::BlobUnreadable {
                part: part(),
                reason: format!("it has {bytes} bytes"),
            },
            Err(error) => Warning::BlobUnreadable {
                part: part(),
                reason: error.to_string(),
            },
        };
        self.warn(warning);
        None
    }

    fn push(&mut self, mut message: ChatMessage, request_id: Option<Text>, id: BlobId, data: Bytes) {
        if self.messages.len() >= MESSAGES_MAX {
            self.is_full = true;
            self.warn(Warning::LimitReached(format!(
                "everything after {MESSAGES_MAX} messages"
            )));
            return;
        }
        message.request_id = request_id;
        message.original = Some(Original { blob_id: id, data });
        self.messages.push(message);
    }

    fn warn_wire(&mut self, part: String, error: WireError) {
        self.warn(Warning::BlobUnreadable {
            part,
            reason: error.to_string(),
        });
    }

    fn warn(&mut self, warning: Warning) {
        match self.warnings.len() {
            ..WARNINGS_MAX => self.warnings.push(warning),
            WARNINGS_MAX => self
                .warnings
                .push(Warning::LimitReached("further warnings".to_owned())),
            _ => {}
        }
    }
}

/// Puts the content of a read file, which was moved to a blob of its own, back into its place.
fn set_content(tool: &mut ToolUse, content: &[u8]) {
    let mut detail = tool.detail().into_owned();
    detail.output["success"]["content"] = Value::String(text(content));
    tool.detail = Detail::Decoded(Box::new(detail));
}
