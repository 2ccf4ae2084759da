//! Records of Copilot CLI, and of VS Code, which writes the same ones.

use serde_json::Value;

use super::CallResult;
use super::entry::{Said, call, list, result, text};

pub(super) fn message(data: &Value) -> Vec<Said> {
    let words = text(data, "content").map(|text| Said::Text(text.to_owned()));
    let calls = list(data, "toolRequests").filter_map(|request| {
        Some(call(
            text(request, "toolCallId"),
            text(request, "name")?,
            request.get("arguments"),
        ))
    });
    words.into_iter().chain(calls).collect()
}

pub(super) fn completed(data: &Value) -> Vec<Said> {
    vec![result(text(data, "toolCallId"), ended(data))]
}

/// The record of a stop hook has the time that the hook itself is told.
pub(super) fn hook_start(data: &Value) -> Vec<Said> {
    if text(data, "hookType") != Some("agentStop") {
        return Vec::new();
    }
    let input = data.get("input").unwrap_or(&Value::Null);
    let at = input.get("timestamp").and_then(Value::as_i64);
    vec![Said::StopHook { at }]
}

/// A command that ran counts as a success here, with any exit code.
fn ended(data: &Value) -> CallResult {
    let shell = data.get("shellExecution").unwrap_or(&Value::Null);
    if let Some(code) = shell.get("exitCode").and_then(Value::as_i64) {
        return CallResult::of_exit(code);
    }
    let output = data.get("result").and_then(|result| text(result, "content"));
    if let Some(handle) = output.and_then(still_running) {
        return CallResult::Running {
            handle: Some(handle.to_owned()),
        };
    }
    CallResult::of_success(data.get("success").and_then(Value::as_bool).unwrap_or(false))
}

/// Reads the remark at the end of the output of a command that outlasted the tool.
fn still_running(output: &str) -> Option<&str> {
    let remark = output.trim_end().lines().last()?;
    if !remark.contains("still running") {
        return None;
    }
    let (_, named) = remark.split_once("shellId: ")?;
    named.split(|c: char| c == '>' || c.is_whitespace()).next()
}
