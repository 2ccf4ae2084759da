//! The message that the adapter writes to the stdin of a custom CLI, and its protocol versions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The protocol versions this adapter understands.
pub const SUPPORTED_VERSIONS: [&str; 1] = ["1.0"];

/// Reports whether a version announced by the CLI is understood.
pub fn supported_version(version: &str) -> bool {
    SUPPORTED_VERSIONS.contains(&version)
}

/// One turn, written as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "turn", rename_all = "camelCase")]
pub struct Turn {
    /// Names the turn; a new one for each.
    pub turn_id: String,
    /// The conversation so far, the newest message last.
    pub messages: Vec<Message>,
    /// The tools the CLI may call.
    pub tools: Vec<ToolSpec>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text, or a tool's result.
    pub content: String,
    /// The tool whose result this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Message {
    /// Builds a message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
            name: None,
        }
    }

    /// Builds a message of the assistant.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            name: None,
        }
    }

    /// Builds the result of a tool, for the next turn.
    pub fn tool(name: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            role: Role::Tool,
            content: content.into(),
            name: Some(name.into()),
        }
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The human, or a program that acts for them.
    User,
    /// The agent.
    Assistant,
    /// A tool the adapter executed.
    Tool,
}

/// A tool the CLI may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name to call it by.
    pub name: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// The message that asks a custom CLI to stop by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "cancel", rename_all = "camelCase")]
pub struct CancelMessage {
    /// The turn to stop.
    pub turn_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_exactly_the_shape_of_the_contract() {
        let turn = Turn {
            turn_id: "t1".into(),
            messages: vec![Message::user("hi"), Message::tool("exec", "ok")],
            tools: vec![ToolSpec {
                name: "exec".into(),
                schema: serde_json::json!({"type": "object"}),
            }],
        };
        assert_eq!(
            serde_json::to_string(&turn).unwrap(),
            r#"{"type":"turn","turnId":"t1","messages":[{"role":"user","content":"hi"},{"role":"tool","content":"ok","name":"exec"}],"tools":[{"name":"exec","schema":{"type":"object"}}]}"#
        );
        let cancel = CancelMessage { turn_id: "t1".into() };
        assert_eq!(
            serde_json::to_string(&cancel).unwrap(),
            r#"{"type":"cancel","turnId":"t1"}"#
        );
    }
}
