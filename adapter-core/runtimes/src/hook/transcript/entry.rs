//! One line of a transcript, in one shape for all hosts.

use serde_json::Value;

use super::{CallResult, claude, codex, copilot, gemini, qwen};
use crate::hook::ToolCall;

/// Something that was said, and the id of the line that says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The line's id.
    pub id: Option<String>,
    /// The content.
    pub said: Said,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A human's words, which begin a turn.
    Prompt,
    /// An agent's words.
    Text(String),
    /// An agent's use of a tool.
    Call {
        /// The id by which a later result names it.
        id: Option<String>,
        /// The call.
        call: ToolCall,
    },
    /// The result of a call.
    Result {
        /// The call; the last one where the host gives no ids.
        id: Option<String>,
        /// The result.
        result: CallResult,
    },
    /// The host calls its stop hook: the turn is recorded whole.
    StopHook {
        /// When, in milliseconds.
        at: Option<i64>,
    },
}

/// Reads one line; most lines say nothing that matters here.
pub(super) fn entries(line: &Value) -> Vec<Entry> {
    if flag(line, "isSidechain") {
        return Vec::new();
    }
    let inner = |name: &str| line.get(name).unwrap_or(&Value::Null);
    let said = match kind(line) {
        Some("response_item") => codex::item(inner("payload")),
        Some("event_msg") => codex::event(inner("payload")),
        Some("assistant.message") => copilot::message(inner("data")),
        Some("tool.execution_complete") => copilot::completed(inner("data")),
        Some("hook.start") => copilot::hook_start(inner("data")),
        Some("user.message") => vec![Said::Prompt],
        Some("gemini") => gemini::message(line),
        _ if qwen::is_message(line) => qwen::message(line),
        _ => claude::message(line),
    };
    // Codex gives its lines no id, but a time.
    let id = ["uuid", "id", "timestamp"]
        .iter()
        .find_map(|name| text(line, name))
        .map(str::to_owned);
    said.into_iter()
        .map(|said| Entry { id: id.clone(), said })
        .collect()
}

/// Makes a call of a tool. Some hosts write its input as JSON inside a text.
pub(super) fn call(id: Option<&str>, name: &str, input: Option<&Value>) -> Said {
    let input = match input {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    };
    Said::Call {
        id: id.map(str::to_owned),
        call: ToolCall {
            name: name.to_owned(),
            input,
        },
    }
}

pub(super) fn result(id: Option<&str>, result: CallResult) -> Said {
    Said::Result {
        id: id.map(str::to_owned),
        result,
    }
}

pub(super) fn kind(value: &Value) -> Option<&str> {
    text(value, "type")
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

pub(super) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
