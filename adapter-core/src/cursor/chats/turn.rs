//! Parses turns, and builds messages from parts that are complete in one blob.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Value, json};

use super::message::{ChatMessage, Detail, Role, ToolDetail, ToolUse};
use super::schema::text;
use super::text::Text;
use super::wire::{Fields, WireError, last_bytes};

/// The key of a command that the human ran; it is none of the agent's tools.
const USER_SHELL_KEY: &str = "userShell";

/// One turn of a conversation, its parts still ids.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// The user said something and the agent took steps.
    Agent(AgentTurn<'a>),
    /// The user ran a command.
    Shell(ShellTurn<'a>),
}

#[derive(Debug, Default)]
pub(super) struct AgentTurn<'a> {
    pub(super) user: Option<&'a [u8]>,
    pub(super) steps: Vec<&'a [u8]>,
    pub(super) request_id: Option<&'a [u8]>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ShellTurn<'a> {
    pub(super) command: Option<&'a [u8]>,
    pub(super) output: Option<&'a [u8]>,
}

/// Takes a turn apart; the error says what is wrong with it.
pub(super) fn parse_turn(data: &[u8]) -> Result<Turn<'_>, String> {
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

/// Makes the agent's words, a part of `blob`, a message.
pub(super) fn assistant_message(blob: &Bytes, body: &[u8]) -> Result<ChatMessage, WireError> {
    let words = last_bytes(body, 1)?.map(|words| Text::within(blob, words));
    Ok(ChatMessage::new(Role::Assistant, words.unwrap_or_default()))
}

/// Makes the agent's thoughts, a part of `blob`, a message.
pub(super) fn thinking_message(blob: &Bytes, body: &[u8]) -> Result<ChatMessage, WireError> {
    let mut message = ChatMessage::new(Role::Thinking, Text::default());
    for field in Fields::new(body) {
        let field = field?;
        match (field.number, field.value.bytes()) {
            (1, Some(words)) => message.text = Text::within(blob, words),
            (2, None) => message.duration_ms = field.value.varint(),
            _ => {}
        }
    }
    Ok(message)
}

/// Makes the message for a command that the human ran from inside the chat.
pub(super) fn shell_message(
    command: Option<&Bytes>,
    output: Option<&Bytes>,
) -> Result<ChatMessage, WireError> {
    let command = match command {
        Some(blob) => last_bytes(blob, 1)?
            .map(|words| Text::within(blob, words))
            .unwrap_or_default(),
        None => Text::default(),
    };
    let mut detail = ToolDetail {
        args: json!({ "command": &*command }),
        ..ToolDetail::default()
    };
    if let Some(output) = output {
        add_shell_output(&mut detail, output)?;
    }
    let mut message = ChatMessage::new(Role::User, command);
    message.tools.push(ToolUse {
        name: Cow::Borrowed("Bash"),
        key: Cow::Borrowed(USER_SHELL_KEY),
        oneof_field: None,
        call_id: None,
        steps: Vec::new(),
        detail: Detail::Decoded(Box::new(detail)),
    });
    Ok(message)
}

fn add_shell_output(detail: &mut ToolDetail, output: &[u8]) -> Result<(), WireError> {
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
    let streams: Value = json!({ "stdout": stdout, "stderr": stderr, "exitCode": exit_code });
    detail.outcome = Some(Cow::Borrowed(outcome));
    detail.is_error = exit_code != 0;
    detail.exit_code = Some(exit_code);
    detail.output = json!({ outcome: streams });
    Ok(())
}
