//! Loads a chat: from the metadata to the root, from the root to the turns, from the turns to the messages.
//!
//! Order comes from the root's list of turns and never from the order of rows. Only a store that cannot be
//! opened is an error; whatever else is missing or broken becomes a warning and the rest is read.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::blob_id::BlobId;
use super::error::ChatsError;
use super::message::{Chat, ChatMessage, Original, Role, Source, ToolUse, Warning};
use super::meta::{ChatMeta, parse_meta, unhex};
use super::prompt::PromptReader;
use super::schema::{DEPTH_MAX, text};
use super::store::{Blob, ChatStore};
use super::tool::{RawToolCall, TASK_FIELD, TRUNCATED_FIELD, decode_tool_call, split_tool_call, task_steps};
use super::wire::{Fields, WireError, last_bytes};

/// The most messages of one chat.
const MESSAGES_MAX: usize = 1_000_000;
/// How many messages a turn has, roughly; memory is set aside for so many.
const MESSAGES_A_TURN: usize = 4;
/// The most bytes of blobs that messages are made from; one blob may be named any number of times.
const BYTES_MAX: usize = 512 << 20;
/// The most warnings about one chat.
const WARNINGS_MAX: usize = 100;

/// The fields of a root that lead to messages.
const ROOT_PROMPT_FIELD: u32 = 1;
const ROOT_TURNS_FIELD: u32 = 8;

/// Loads the chat whose store is at `path`.
///
/// # Errors
///
/// Fails if the file cannot be opened or is not a chat store.
pub fn load_chat(path: &Path) -> Result<Chat, ChatsError> {
    let mut store = ChatStore::open(path)?;
    let mut warnings = Vec::new();
    let meta = read_meta(&store, &mut warnings)?;
    let root = match &meta.root_blob_id {
        Some(id) => read_root(&store, id, &mut warnings),
        None => Root::default(),
    };
    if root.has_messages()
        && let Err(error) = store.read_ahead()
    {
        warnings.push(Warning::Damaged(error.to_string()));
    }
    let mut reader = Reader {
        store: &store,
        messages: Vec::new(),
        warnings,
        bytes: 0,
        is_full: false,
    };
    let source = reader.read(&root);
    Ok(Chat {
        chat_id: meta.agent_id.unwrap_or_else(|| directory_name(path)),
        name: meta.name,
        mode: meta.mode,
        created_at: meta.created_at,
        model: meta.model,
        source,
        messages: reader.messages,
        warnings: reader.warnings,
    })
}

/// Reads only what a store says about its chat.
///
/// # Errors
///
/// Fails as [`load_chat`] does.
pub fn load_meta(path: &Path) -> Result<(ChatMeta, Vec<Warning>), ChatsError> {
    let store = ChatStore::open(path)?;
    let mut warnings = Vec::new();
    let meta = read_meta(&store, &mut warnings)?;
    Ok((meta, warnings))
}

fn read_meta(store: &ChatStore, warnings: &mut Vec<Warning>) -> Result<ChatMeta, ChatsError> {
    let parsed = match store.meta_row()? {
        Some(row) => parse_meta(&row),
        None => Err("there is none".to_owned()),
    };
    Ok(parsed.unwrap_or_else(|reason| {
        warnings.push(Warning::Metadata(reason));
        ChatMeta::default()
    }))
}

fn directory_name(path: &Path) -> String {
    let name = path.parent().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// What a root says about the conversation: the ids as they stand, valid or not.
#[derive(Debug, Default)]
struct Root {
    turns: Vec<Vec<u8>>,
    prompt: Vec<Vec<u8>>,
}

impl Root {
    fn has_messages(&self) -> bool {
        !self.turns.is_empty() || !self.prompt.is_empty()
    }
}

fn read_root(store: &ChatStore, id: &str, warnings: &mut Vec<Warning>) -> Root {
    let unreadable = |reason: String| Warning::RootUnreadable {
        id: id.to_owned(),
        reason,
    };
    // Ids are lowercase in the store, and metadata may spell them otherwise.
    let id_in_store = BlobId::from_hex(id.as_bytes()).map_or_else(|| id.to_owned(), |id| id.to_string());
    let warning = match store.blob_by_text(&id_in_store) {
        Ok(Blob::Found(data)) => match parse_root(&data) {
            Ok(root) => return root,
            Err(reason) => unreadable(reason.to_owned()),
        },
        Ok(Blob::Missing) => Warning::RootMissing(id.to_owned()),
        Ok(Blob::TooLarge(bytes)) => unreadable(format!("it has {bytes} bytes")),
        Err(error) => unreadable(error.to_string()),
    };
    warnings.push(warning);
    Root::default()
}

fn parse_root(data: &[u8]) -> Result<Root, &'static str> {
    let mut root = Root::default();
    for field in Fields::new(data) {
        let field = field.map_err(|_| "it is not protobuf")?;
        let list = match field.number {
            ROOT_TURNS_FIELD => &mut root.turns,
            ROOT_PROMPT_FIELD => &mut root.prompt,
            _ => continue,
        };
        list.push(field.value.bytes().ok_or("it is not a conversation")?.to_vec());
    }
    Ok(root)
}

/// Collects messages and warnings.
#[derive(Debug)]
struct Reader<'s> {
    store: &'s ChatStore,
    messages: Vec<ChatMessage>,
    warnings: Vec<Warning>,
    bytes: usize,
    is_full: bool,
}

impl<'s> Reader<'s> {
    fn read(&mut self, root: &Root) -> Source {
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
            Ok(Turn::Agent(agent)) => self.read_agent_turn(turn, &agent),
            Ok(Turn::Shell(shell)) => self.read_shell_turn(turn, shell),
            Err(reason) => self.warn(Warning::BlobUnreadable { part: part(), reason }),
        }
    }

    fn read_agent_turn(&mut self, turn: usize, agent: &AgentTurn<'_>) {
        let request_id = agent.request_id.map(|id| Arc::from(text(id)));
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
            match self.step_message(&data, 0, &part) {
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
        let Some((id, data)) = command.as_ref().or(output.as_ref()) else {
            return;
        };
        let (id, data) = (*id, data.clone());
        let body = |found: &'_ Option<(BlobId, Bytes)>| found.as_ref().map(|(_, data)| data.clone());
        match shell_message(body(&command).as_deref(), body(&output).as_deref()) {
            Ok(message) => self.push(message, None, id, data),
            Err(error) => self.warn_wire(format!("turn {turn}"), error),
        }
    }

    fn user_message(&mut self, data: &[u8], part: impl Fn() -> String) -> Result<ChatMessage, WireError> {
        let mut message = ChatMessage::new(Role::User, "");
        let mut text_blob = None;
        for field in Fields::new(data) {
            let field = field?;
            match (field.number, field.value.bytes()) {
                (1, Some(bytes)) => message.text = text(bytes),
                (2, Some(bytes)) => message.message_id = Some(text(bytes)),
                (18, Some(bytes)) => text_blob = Some(bytes),
                _ => {}
            }
        }
        // A long text is kept in a blob of its own, and what stands in its place is a preview.
        if let Some(id) = text_blob.filter(|id| !id.is_empty())
            && let Some((_, data)) = self.find(id, || format!("{}, text", part()))
        {
            message.text = text(&data);
        }
        Ok(message)
    }

    fn step_message(
        &mut self,
        data: &[u8],
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<Option<ChatMessage>, WireError> {
        let mut message = None;
        for field in Fields::new(data) {
            let field = field?;
            let Some(body) = field.value.bytes() else { continue };
            message = match field.number {
                1 => Some(ChatMessage::new(
                    Role::Assistant,
                    text(last_bytes(body, 1)?.unwrap_or_default()),
                )),
                2 => Some(self.tool_message(body, depth, part)?),
                3 => Some(thinking_message(body)?),
                _ => message,
            };
        }
        Ok(message)
    }

    fn tool_message(
        &mut self,
        data: &[u8],
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<ChatMessage, WireError> {
        let call = split_tool_call(data)?;
        if call.field == Some(TRUNCATED_FIELD)
            && depth < DEPTH_MAX
            && let Some(message) = self.original_step(call, depth, part)?
        {
            return Ok(message);
        }
        let mut tool = decode_tool_call(call, 0)?;
        if call.field == Some(TASK_FIELD) && depth < DEPTH_MAX {
            self.read_task(&mut tool, call.body, depth, part)?;
        }
        if let Some(id) = content_blob(&tool)
            && let Some((_, data)) = self.find(&id, || format!("{}, content", part()))
        {
            tool.output["success"]["content"] = Value::String(text(&data));
        }
        let mut message = ChatMessage::new(Role::Tool, "");
        message.tools.push(tool);
        Ok(message)
    }

    /// Follows a truncated call to the step it stands for, if that is still in the store.
    fn original_step(
        &mut self,
        call: RawToolCall<'_>,
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<Option<ChatMessage>, WireError> {
        let Some(id) = last_bytes(call.body, 1)? else {
            return Ok(None);
        };
        match self.find(id, || format!("{}, original", part())) {
            Some((_, data)) => self.step_message(&data, depth + 1, part),
            None => Ok(None),
        }
    }

    fn read_task(
        &mut self,
        tool: &mut ToolUse,
        body: &[u8],
        depth: usize,
        part: &dyn Fn() -> String,
    ) -> Result<(), WireError> {
        for step in task_steps(body)? {
            tool.steps.extend(self.step_message(step, depth + 1, part)?);
        }
        Ok(())
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
                Warning::LimitReached(format!("everything after {} bytes, from {}", BYTES_MAX, part()))
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

    fn push(&mut self, mut message: ChatMessage, request_id: Option<Arc<str>>, id: BlobId, data: Bytes) {
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

/// Returns the blob that a read file's content was moved to.
fn content_blob(tool: &ToolUse) -> Option<Vec<u8>> {
    let success = tool.output.get("success")?;
    unhex(success.get("contentBlobId")?.as_str()?.as_bytes())
}

/// One turn of a conversation, its parts still ids.
enum Turn<'a> {
    Agent(AgentTurn<'a>),
    Shell(ShellTurn<'a>),
}

#[derive(Default)]
struct AgentTurn<'a> {
    user: Option<&'a [u8]>,
    steps: Vec<&'a [u8]>,
    request_id: Option<&'a [u8]>,
}

#[derive(Default, Clone, Copy)]
struct ShellTurn<'a> {
    command: Option<&'a [u8]>,
    output: Option<&'a [u8]>,
}

fn parse_turn(data: &[u8]) -> Result<Turn<'_>, String> {
    let mut turn = None;
    for field in Fields::new(data) {
        let field = field.map_err(|error| error.to_string())?;
        turn = match (field.number, field.value.bytes()) {
            (1, Some(body)) => Some(parse_agent_turn(body).map(Turn::Agent)),
            (2, Some(body)) => Some(parse_shell_turn(body).map(Turn::Shell)),
            _ => turn,
        };
    }
    turn.ok_or("it is of a kind we do not know")?
        .map_err(|error| error.to_string())
}

fn parse_agent_turn(body: &[u8]) -> Result<AgentTurn<'_>, WireError> {
    let mut turn = AgentTurn::default();
    for field in Fields::new(body) {
        let field = field?;
        match (field.number, field.value.bytes()) {
            (1, Some(id)) => turn.user = Some(id).filter(|id| !id.is_empty()),
            (2, Some(id)) => turn.steps.push(id),
            (3, Some(id)) => turn.request_id = Some(id).filter(|id| !id.is_empty()),
            _ => {}
        }
    }
    Ok(turn)
}

fn parse_shell_turn(body: &[u8]) -> Result<ShellTurn<'_>, WireError> {
    Ok(ShellTurn {
        command: last_bytes(body, 1)?,
        output: last_bytes(body, 2)?,
    })
}

fn thinking_message(body: &[u8]) -> Result<ChatMessage, WireError> {
    let mut message = ChatMessage::new(Role::Thinking, "");
    for field in Fields::new(body) {
        let field = field?;
        match field.number {
            1 => message.text = text(field.value.bytes().unwrap_or_default()),
            2 => message.duration_ms = field.value.varint(),
            _ => {}
        }
    }
    Ok(message)
}

/// Makes the message for a command that the human ran from inside the chat.
fn shell_message(command: Option<&[u8]>, output: Option<&[u8]>) -> Result<ChatMessage, WireError> {
    let command = text(last_bytes(command.unwrap_or_default(), 1)?.unwrap_or_default());
    let mut message = ChatMessage::new(Role::User, command.clone());
    message.tools.push(ToolUse {
        name: Cow::Borrowed("Bash"),
        key: Cow::Borrowed("userShell"),
        oneof_field: None,
        call_id: None,
        args: json!({ "command": command }),
        outcome: None,
        is_error: false,
        exit_code: None,
        output: Value::Null,
        steps: Vec::new(),
    });
    if let (Some(output), [tool]) = (output, message.tools.as_mut_slice()) {
        add_shell_output(tool, output)?;
    }
    Ok(message)
}

fn add_shell_output(tool: &mut ToolUse, output: &[u8]) -> Result<(), WireError> {
    let stdout = text(last_bytes(output, 1)?.unwrap_or_default());
    let stderr = text(last_bytes(output, 2)?.unwrap_or_default());
    let mut exit_code = 0;
    for field in Fields::new(output) {
        let field = field?;
        if let (3, Some(code)) = (field.number, field.value.varint()) {
            exit_code = code as i64;
        }
    }
    let outcome = if exit_code == 0 { "success" } else { "failure" };
    tool.outcome = Some(Cow::Borrowed(outcome));
    tool.is_error = exit_code != 0;
    tool.exit_code = Some(exit_code);
    tool.output = json!({ outcome: { "stdout": stdout, "stderr": stderr, "exitCode": exit_code } });
    Ok(())
}
