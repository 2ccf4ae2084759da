//! What one line of a transcript says, for every host's kind of line.

use serde_json::Value;

use crate::runtime::hook::ToolCall;

/// Something that was said, and the id of the line that says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The line's id.
    pub id: Option<String>,
    /// What was said.
    pub said: Said,
}

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A human's words, which begin a turn.
    Prompt,
    /// An agent's words.
    Text(String),
    /// An agent's use of a tool.
    Call(ToolCall),
}

/// Reads one line; most lines say nothing that matters here.
pub(super) fn entries(line: &Value) -> Vec<Entry> {
    if flag(line, "isSidechain") {
        return Vec::new();
    }
    let said = match line.get("type").and_then(Value::as_str) {
        Some("response_item") => codex(line.get("payload").unwrap_or(&Value::Null)),
        Some("assistant.message") => copilot(line.get("data").unwrap_or(&Value::Null)),
        Some("user.message") => vec![Said::Prompt],
        Some("gemini") => gemini(line),
        _ => messages(line),
    };
    // Codex gives its lines no id, but a time.
    let id = ["uuid", "id", "timestamp"]
        .iter()
        .find_map(|name| line.get(name)?.as_str())
        .map(str::to_owned);
    said.into_iter()
        .map(|said| Entry { id: id.clone(), said })
        .collect()
}

/// Claude Code and Cursor: a role, and a message whose content is a text or a list of blocks.
fn messages(line: &Value) -> Vec<Said> {
    let message = line.get("message").unwrap_or(line);
    let role = [line.get("type"), line.get("role"), message.get("role")]
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|role| matches!(*role, "user" | "assistant"));
    let content = message.get("content").unwrap_or(&Value::Null);
    match role {
        Some("assistant") => blocks(content),
        Some("user") if flag(line, "isMeta") && !is_hook_feedback(content) => Vec::new(),
        Some("user") if is_prompt(content) => vec![Said::Prompt],
        _ => Vec::new(),
    }
}

/// A user's message is a prompt unless it only carries the results of tools.
fn is_prompt(content: &Value) -> bool {
    match content {
        Value::Array(blocks) => blocks
            .iter()
            .any(|block| block.get("text").is_some_and(Value::is_string)),
        other => other.is_string(),
    }
}

/// Claude Code writes what a stop hook says, which is a human's word here, among its own remarks.
fn is_hook_feedback(content: &Value) -> bool {
    content
        .as_str()
        .is_some_and(|text| text.starts_with("Stop hook feedback"))
}

fn blocks(content: &Value) -> Vec<Said> {
    match content {
        Value::String(text) => vec![Said::Text(text.clone())],
        Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
        _ => Vec::new(),
    }
}

fn block(block: &Value) -> Option<Said> {
    match kind(block)? {
        "text" | "output_text" => Some(Said::Text(block.get("text")?.as_str()?.to_owned())),
        "tool_use" => {
            let name = block.get("name")?.as_str()?;
            Some(call(name, block.get("input")))
        }
        _ => None,
    }
}

fn codex(payload: &Value) -> Vec<Said> {
    match (kind(payload), payload.get("role").and_then(Value::as_str)) {
        (Some("message"), Some("assistant")) => blocks(payload.get("content").unwrap_or(&Value::Null)),
        (Some("message"), Some("user")) => vec![Said::Prompt],
        (Some("function_call" | "custom_tool_call"), _) => {
            let input = payload.get("arguments").or_else(|| payload.get("input"));
            payload
                .get("name")
                .and_then(Value::as_str)
                .map(|name| call(name, input))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

fn copilot(data: &Value) -> Vec<Said> {
    let text = data
        .get("content")
        .and_then(Value::as_str)
        .map(|text| Said::Text(text.to_owned()));
    let calls = data
        .get("toolRequests")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|request| {
            let name = request.get("name")?.as_str()?;
            Some(call(name, request.get("arguments")))
        });
    text.into_iter().chain(calls).collect()
}

fn gemini(line: &Value) -> Vec<Said> {
    let calls = line
        .get("toolCalls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|made| {
            let name = made.get("name")?.as_str()?;
            Some(call(name, made.get("args")))
        });
    let text = line
        .get("content")
        .and_then(Value::as_str)
        .map(|text| Said::Text(text.to_owned()));
    calls.chain(text).collect()
}

/// Some hosts write a tool's input as JSON inside a text.
fn call(name: &str, input: Option<&Value>) -> Said {
    let input = match input {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    };
    Said::Call(ToolCall {
        name: name.to_owned(),
        input,
    })
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type")?.as_str()
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}
