//! The declaration of `cueme mcp`, in each shape.

use serde_json::{Map, Value, json};

use crate::{
    facts::{McpExtras, McpShape},
    install::{
        Request,
        json::{MemberKind, Part},
        toml::ServerTable,
    },
};

/// The name of our server in every runtime.
pub(super) const SERVER: &str = "cueme";

/// The timeout of a call that waits for a human, where the runtime lets a server set it: a day.
const CALL_SECONDS: u64 = 86_400;

/// Our tools, for runtimes that list those that need no approval.
const TOOLS: [&str; 4] = ["join", "recall", "cue", "pause"];

/// Returns our server as a part of a JSON file.
pub(super) fn parts(shape: McpShape, request: &Request<'_>) -> Vec<Part> {
    let member = |group: &'static str, value: Value| Part::Member {
        kind: MemberKind::Ours,
        path: vec![group],
        key: SERVER,
        value,
    };
    match shape {
        McpShape::McpServers(extras) => vec![member("mcpServers", server(request, extras))],
        McpShape::Servers => vec![member("servers", server(request, McpExtras::Stdio))],
        McpShape::Opencode => {
            let mut entry = json!({ "type": "local", "command": [request.binary, "mcp"], "enabled": true });
            set_environment(&mut entry, "environment", request);
            vec![
                member("mcp", entry),
                Part::AddedByHost {
                    key: "$schema",
                    value: json!("https://opencode.ai/config.json"),
                },
            ]
        }
        McpShape::CodexToml | McpShape::None => Vec::new(),
    }
}

/// Returns our server as a table of Codex's settings.
pub(super) fn codex_table(request: &Request<'_>) -> ServerTable {
    let text = |text: &str| toml_edit::Value::from(text).to_string().trim().to_owned();
    let mut lines = vec![
        format!("command = {}", text(request.binary)),
        "args = [\"mcp\"]".to_owned(),
        format!("tool_timeout_sec = {CALL_SECONDS}"),
    ];
    let environment: Vec<String> = request
        .environment()
        .iter()
        .map(|(name, value)| format!("{name} = {}", text(value)))
        .collect();
    if !environment.is_empty() {
        lines.push(format!("env = {{ {} }}", environment.join(", ")));
    }
    ServerTable { name: SERVER, lines }
}

/// Returns our server as most programs declare one.
pub(super) fn server(request: &Request<'_>, extras: McpExtras) -> Value {
    let milliseconds = CALL_SECONDS * 1_000;
    let binary = request.binary;
    let mut entry = match extras {
        McpExtras::Bare => json!({ "command": binary, "args": ["mcp"] }),
        McpExtras::Stdio => json!({ "type": "stdio", "command": binary, "args": ["mcp"] }),
        McpExtras::TimeoutMs => json!({ "command": binary, "args": ["mcp"], "timeout": milliseconds }),
        McpExtras::TimeoutMsTrust => {
            json!({ "command": binary, "args": ["mcp"], "timeout": milliseconds, "trust": true })
        }
        McpExtras::TimeoutMsTrustLoaded => json!({
            "command": binary,
            "args": ["mcp"],
            "timeout": milliseconds,
            "trust": true,
            "alwaysLoadTools": true,
        }),
        McpExtras::AutoApprove => {
            json!({ "command": binary, "args": ["mcp"], "disabled": false, "autoApprove": TOOLS })
        }
        McpExtras::LocalTools => {
            json!({ "type": "local", "command": binary, "args": ["mcp"], "tools": ["*"] })
        }
    };
    set_environment(&mut entry, "env", request);
    entry
}

fn set_environment(entry: &mut Value, member: &str, request: &Request<'_>) {
    let environment: Map<String, Value> = request
        .environment()
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    if !environment.is_empty() {
        entry[member] = Value::Object(environment);
    }
}
