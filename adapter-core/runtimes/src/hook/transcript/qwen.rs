//! Records of Qwen Code: messages made of parts, and the result of each call in a line of its own.

use serde_json::Value;

use super::CallResult;
use super::entry::{Said, call, flag, kind, list, result, text};

/// The tool that runs commands.
const SHELL: &str = "run_shell_command";

/// Tells whether a line is one of Qwen Code's messages.
pub(super) fn is_message(line: &Value) -> bool {
    line.get("message")
        .and_then(|message| message.get("parts"))
        .is_some_and(Value::is_array)
}

/// Reads a message. One that a timer or a task in the background wrote begins a turn as a human's does.
pub(super) fn message(line: &Value) -> Vec<Said> {
    let message = line.get("message").unwrap_or(&Value::Null);
    let parts = list(message, "parts");
    match kind(line) {
        Some("user") => vec![Said::Prompt],
        Some("assistant") => parts.filter_map(part).collect(),
        Some("tool_result") => parts
            .filter_map(|part| part.get("functionResponse"))
            .map(|response| result(text(response, "id"), ended(line, response)))
            .collect(),
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Option<Said> {
    if let Some(made) = part.get("functionCall") {
        return Some(call(text(made, "id"), text(made, "name")?, made.get("args")));
    }
    if flag(part, "thought") {
        return None;
    }
    Some(Said::Text(text(part, "text")?.to_owned()))
}

/// Only a command that ran to its end has a code; one in the background has a mere remark in its place.
fn ended(line: &Value, response: &Value) -> CallResult {
    let recorded = line.get("toolCallResult").unwrap_or(&Value::Null);
    let shown = recorded.get("resultDisplay").unwrap_or(&Value::Null);
    if let Some(code) = shown.get("exitCode").and_then(Value::as_i64) {
        return CallResult::of_exit(code);
    }
    match text(recorded, "status") {
        Some("success") if text(response, "name") == Some(SHELL) => CallResult::Running { handle: None },
        Some("success") => CallResult::Succeeded,
        Some(_) => CallResult::Failed { exit: None },
        None => CallResult::Unknown,
    }
}
