//! Records of Codex: the items of a conversation, and events about them.

use serde_json::Value;

use super::CallResult;
use super::claude::{blocks, leading_number};
use super::entry::{Said, call, flag, kind, result, text};

const EXITED: &str = "Process exited with code ";
const RUNNING: &str = "Process running with session ID ";
const WALL_TIME: &str = "Wall time: ";
/// The output itself stands below this line, so nothing there is taken for a record.
const OUTPUT: &str = "Output:";

pub(super) fn item(payload: &Value) -> Vec<Said> {
    match (kind(payload), text(payload, "role")) {
        (Some("message"), Some("assistant")) => blocks(payload.get("content").unwrap_or(&Value::Null)),
        (Some("message"), Some("user")) => vec![Said::Prompt],
        (Some("function_call" | "custom_tool_call"), _) => made(payload).into_iter().collect(),
        (Some("function_call_output" | "custom_tool_call_output"), _) => {
            output(payload).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Reads an event: a completed item says how its call ended.
pub(super) fn event(payload: &Value) -> Vec<Said> {
    let Some(item) = payload
        .get("item")
        .filter(|_| kind(payload) == Some("item_completed"))
    else {
        return Vec::new();
    };
    let ended = match kind(item) {
        Some("CommandExecution") => match item.get("exit_code").and_then(Value::as_i64) {
            Some(code) => CallResult::of_exit(code),
            None => CallResult::of_success(text(item, "status") == Some("completed")),
        },
        Some("McpToolCall") => {
            let is_error = item.get("result").is_some_and(|result| flag(result, "isError"));
            CallResult::of_success(text(item, "status") == Some("completed") && !is_error)
        }
        _ => return Vec::new(),
    };
    vec![result(text(item, "id"), ended)]
}

/// A tool of an MCP server has the server in a member of its own.
fn made(payload: &Value) -> Option<Said> {
    let input = payload.get("arguments").or_else(|| payload.get("input"));
    let name = text(payload, "name")?;
    let name = match text(payload, "namespace") {
        Some(namespace) => format!("{namespace}__{name}"),
        None => name.to_owned(),
    };
    Some(call(text(payload, "call_id"), &name, input))
}

fn output(payload: &Value) -> Option<Said> {
    let output = payload.get("output")?;
    let shown = match output {
        Value::Array(parts) => parts.first().and_then(|part| text(part, "text")),
        other => other.as_str(),
    }?;
    Some(result(text(payload, "call_id"), ended(shown)?))
}

/// Reads the head of a call's output; `None` where an event tells how it ended.
fn ended(output: &str) -> Option<CallResult> {
    if let Ok(Value::Object(older)) = serde_json::from_str(output) {
        let exit = older.get("metadata")?.get("exit_code")?.as_i64()?;
        return Some(CallResult::of_exit(exit));
    }
    let head: Vec<&str> = output.lines().take_while(|line| *line != OUTPUT).collect();
    let after = |mark: &str| head.iter().find_map(|line| line.strip_prefix(mark));
    if let Some(code) = after(EXITED)
        .or_else(|| after("Exit code: "))
        .and_then(leading_number)
    {
        return Some(CallResult::of_exit(code));
    }
    if let Some(session) = after(RUNNING) {
        return Some(CallResult::Running {
            handle: Some(session.trim().to_owned()),
        });
    }
    // Only a call that ran has a time; anything else is the reason why it did not.
    match after(WALL_TIME) {
        Some(_) => None,
        None => Some(CallResult::Failed { exit: None }),
    }
}
