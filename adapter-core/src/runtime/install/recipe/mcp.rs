//! How `cueme mcp` is declared in each shape.

use serde_json::{Value, json};

use crate::runtime::{
    facts::{McpExtras, McpShape},
    install::{json::Part, toml::ServerTable},
};

/// The name of our server in every runtime.
const SERVER: &str = "cueme";

/// How long a call may wait for a human where the runtime lets a server say so: a day.
const CALL_SECONDS: u64 = 86_400;

/// Our tools, for runtimes that list those that need no approval.
const TOOLS: [&str; 4] = ["join", "recall", "cue", "pause"];

/// Returns our server as a part of a JSON file.
pub(super) fn parts(shape: McpShape, binary: &str) -> Vec<Part> {
    let member = |group: &'static str, value: Value| Part::Member {
        path: vec![group],
        key: SERVER,
        value,
    };
    match shape {
        McpShape::McpServers(extras) => vec![member("mcpServers", server(binary, extras))],
        McpShape::Servers => {
            vec![member(
                "servers",
                json!({ "type": "stdio", "command": binary, "args": ["mcp"] }),
            )]
        }
        McpShape::Opencode => vec![
            member(
                "mcp",
                json!({ "type": "local", "command": [binary, "mcp"], "enabled": true }),
            ),
            Part::AddedByHost {
                key: "$schema",
                value: json!("https://opencode.ai/config.json"),
            },
        ],
        McpShape::CodexToml | McpShape::None => Vec::new(),
    }
}

/// Returns our server as a table of Codex's settings.
pub(super) fn codex_table(binary: &str) -> ServerTable {
    let command = toml_edit::Value::from(binary);
    ServerTable {
        name: SERVER,
        lines: vec![
            format!("command = {}", command.to_string().trim()),
            "args = [\"mcp\"]".to_owned(),
            format!("tool_timeout_sec = {CALL_SECONDS}"),
        ],
    }
}

fn server(binary: &str, extras: McpExtras) -> Value {
    let milliseconds = CALL_SECONDS * 1_000;
    match extras {
        McpExtras::Bare => json!({ "command": binary, "args": ["mcp"] }),
        McpExtras::TimeoutMs => json!({ "command": binary, "args": ["mcp"], "timeout": milliseconds }),
        McpExtras::TimeoutMsTrust => {
            json!({ "command": binary, "args": ["mcp"], "timeout": milliseconds, "trust": true })
        }
        McpExtras::AutoApprove => {
            json!({ "command": binary, "args": ["mcp"], "disabled": false, "autoApprove": TOOLS })
        }
        McpExtras::LocalTools => {
            json!({ "type": "local", "command": binary, "args": ["mcp"], "tools": ["*"] })
        }
    }
}
