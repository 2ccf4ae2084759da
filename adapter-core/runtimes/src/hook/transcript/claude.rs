//! Records of Claude Code, Cursor, and hosts that write as they do: a role, and a message whose content is a text or a
//! list of blocks.

use serde_json::Value;

use super::CallResult;
use super::entry::{Said, call, flag, kind, result, text};

/// Stands before the output of a command that failed.
const EXIT_CODE: &str = "Exit code ";

pub(super) fn message(line: &Value) -> Vec<Said> {
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
        Some("user") => results(line, content),
        _ => Vec::new(),
    }
}

/// Reads what an agent said and called.
pub(super) fn blocks(content: &Value) -> Vec<Said> {
    match content {
        Value::String(text) => vec![Said::Text(text.clone())],
        Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
        _ => Vec::new(),
    }
}

fn block(block: &Value) -> Option<Said> {
    match kind(block)? {
        "text" | "output_text" => Some(Said::Text(text(block, "text")?.to_owned())),
        "tool_use" => Some(call(text(block, "id"), text(block, "name")?, block.get("input"))),
        _ => None,
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

fn results(line: &Value, content: &Value) -> Vec<Said> {
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter(|block| kind(block) == Some("tool_result"))
        .map(|block| result(text(block, "tool_use_id"), ended(line, block)))
        .collect()
}

fn ended(line: &Value, block: &Value) -> CallResult {
    let output = output_text(block.get("content").unwrap_or(&Value::Null));
    if flag(block, "is_error") {
        let exit = output.strip_prefix(EXIT_CODE).and_then(leading_number);
        return CallResult::Failed { exit };
    }
    let detail = line.get("toolUseResult").unwrap_or(&Value::Null);
    if flag(detail, "interrupted") {
        return CallResult::Failed { exit: None };
    }
    if let Some(task) = text(detail, "backgroundTaskId") {
        return CallResult::Running {
            handle: Some(task.to_owned()),
        };
    }
    // The report of a task's output tool: the task, its status, and its exit code.
    let task = detail.get("task").unwrap_or(detail);
    match (text(task, "status"), task.get("exitCode").and_then(Value::as_i64)) {
        (Some("running"), _) => CallResult::Running {
            handle: text(task, "task_id")
                .or_else(|| text(task, "shellId"))
                .map(str::to_owned),
        },
        (_, Some(code)) => CallResult::of_exit(code),
        (Some("failed" | "killed"), None) => CallResult::Failed { exit: None },
        _ => CallResult::Succeeded,
    }
}

/// Returns a result's text, which is one text or a list of them.
fn output_text(content: &Value) -> &str {
    match content {
        Value::Array(blocks) => blocks.first().and_then(|block| text(block, "text")),
        other => other.as_str(),
    }
    .unwrap_or_default()
}

/// Reads the number that a text begins with.
pub(super) fn leading_number(text: &str) -> Option<i64> {
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().ok()
}
