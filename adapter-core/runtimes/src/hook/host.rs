//! Finds out which host really runs a hook.
//!
//! Cursor and VS Code also run the hooks in Claude Code's settings, and Copilot CLI those written for VS Code, so the
//! runtime named on the command line is only where the hook was installed.

use serde_json::Value;

use crate::Runtime;

/// Returns the host that wrote this input.
pub(super) fn detect(
    installed_for: Runtime,
    input: &Value,
    variable: impl Fn(&str) -> Option<String>,
) -> Runtime {
    let has = |member: &str| input.get(member).is_some();
    if matches!(installed_for, Runtime::QwenCode | Runtime::Droid) {
        // No other host reads their settings, and their members are spelled like those of other hosts.
        installed_for
    } else if has("cursor_version") || variable("CURSOR_VERSION").is_some() {
        Runtime::Cursor
    } else if has("agent_action_name") {
        Runtime::Windsurf
    } else if has("hookEventName") {
        Runtime::Vscode
    } else if has("sessionId") {
        Runtime::CopilotCli
    } else if installed_for == Runtime::ClaudeCode && has("timestamp") {
        // Claude Code writes no time into a hook's input; VS Code always does.
        Runtime::Vscode
    } else {
        installed_for
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_host_is_known_by_what_it_writes() {
        let cases = [
            (
                Runtime::ClaudeCode,
                json!({ "session_id": "s", "hook_event_name": "Stop" }),
                Runtime::ClaudeCode,
            ),
            (
                Runtime::ClaudeCode,
                json!({ "conversation_id": "c", "cursor_version": "3.7" }),
                Runtime::Cursor,
            ),
            (
                Runtime::ClaudeCode,
                json!({ "session_id": "s", "timestamp": "2026-01-01T00:00:00Z" }),
                Runtime::Vscode,
            ),
            (
                Runtime::ClaudeCode,
                json!({ "sessionId": "s", "hookEventName": "Stop" }),
                Runtime::Vscode,
            ),
            (
                Runtime::Vscode,
                json!({ "sessionId": "s", "transcriptPath": "/t" }),
                Runtime::CopilotCli,
            ),
            (
                Runtime::Codex,
                json!({ "session_id": "s", "turn_id": "t" }),
                Runtime::Codex,
            ),
            (
                Runtime::GeminiCli,
                json!({ "session_id": "s", "timestamp": "x" }),
                Runtime::GeminiCli,
            ),
            (
                Runtime::Droid,
                json!({ "sessionId": "s", "hookEventName": "Stop" }),
                Runtime::Droid,
            ),
            (
                Runtime::QwenCode,
                json!({ "session_id": "s", "timestamp": "x" }),
                Runtime::QwenCode,
            ),
        ];
        for (installed_for, input, host) in cases {
            assert_eq!(detect(installed_for, &input, |_| None), host, "{input}");
        }
    }

    #[test]
    fn the_environment_of_cursor_counts_too() {
        let cursor = |name: &str| (name == "CURSOR_VERSION").then(|| "3.7".to_owned());
        assert_eq!(detect(Runtime::ClaudeCode, &json!({}), cursor), Runtime::Cursor);
    }
}
