//! The four tools: their schemas, and their arguments.

use std::sync::Arc;

use protocol_spec::outcome::Kind;
use protocol_spec::visible::quoted;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, ToolAnnotations, object};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A call of one of the tools.
#[derive(Debug)]
pub(super) enum Call {
    Join(JoinCall),
    Recall(RecallCall),
    Wait(WaitCall),
}

#[derive(Debug, Deserialize)]
pub(super) struct JoinCall {
    pub(super) agent_runtime: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RecallCall {
    pub(super) hints: String,
}

/// A call that waits for the human.
#[derive(Debug)]
pub(super) struct WaitCall {
    pub(super) kind: Kind,
    pub(super) agent_id: String,
    pub(super) prompt: Option<String>,
    /// The payload as JSON text.
    pub(super) payload: Option<String>,
}

#[derive(Debug, Deserialize)]
struct CueCall {
    agent_id: String,
    prompt: String,
    #[serde(default)]
    payload: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct PauseCall {
    agent_id: String,
    #[serde(default)]
    prompt: Option<String>,
}

/// Lists the tools.
pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(
            "join",
            "Join",
            "Register with the human's broker and get your agent_id. In a session that has joined already it returns the \
             same one.",
            &json!({
                "type": "object",
                "properties": {
                    "agent_runtime": {
                        "type": "string",
                        "description": "Where you run: cursor, claude_code, codex, windsurf, vscode, kiro, opencode, terminal …"
                    }
                },
                "required": ["agent_runtime"]
            }),
            &json!({
                "type": "object",
                "properties": {
                    "message": { "type": "string", "description": "How to ask, as in the text content" },
                    "agent_id": { "type": "string" },
                    "agent_runtime": { "type": "string" },
                    "project_dir": { "type": "string" },
                    "agent_terminal": { "type": "string" }
                },
                "required": ["agent_id", "agent_runtime", "project_dir", "agent_terminal"]
            }),
            hints().idempotent(false),
        ),
        tool(
            "recall",
            "Recall",
            "Find your agent_id again by words you asked, were told, or remember of the project.",
            &json!({
                "type": "object",
                "properties": { "hints": { "type": "string", "description": "Words you remember" } },
                "required": ["hints"]
            }),
            &json!({
                "type": "object",
                "properties": {
                    "message": { "type": "string", "description": "The matches, as in the text content" },
                    "matches": {
                        "type": "array",
                        "description": "The agents that fit, best first",
                        "items": {
                            "type": "object",
                            "properties": {
                                "agent": { "type": "object" },
                                "why": { "type": "array", "items": { "type": "string" } }
                            },
                            "required": ["agent", "why"]
                        }
                    }
                },
                "required": ["matches"]
            }),
            hints().read_only(true).idempotent(true),
        ),
        tool(
            "cue",
            "Ask the human",
            "Ask the human and wait for the answer; it may take long. What is returned is the human's word. If the call \
             times out or says that the question is still open, call it again with exactly the same arguments: it goes \
             on waiting for the same question.",
            &json!({
                "type": "object",
                "properties": {
                    "agent_id": agent_id(),
                    "prompt": { "type": "string", "description": "The question, in Markdown" },
                    "payload": {
                        "type": "object",
                        "description": "How to answer: {\"type\":\"choice\",\"options\":[…],\"allow_multiple\":false}, \
                                        {\"type\":\"confirm\",\"text\":…} or {\"type\":\"form\",\"fields\":[{\"label\":…}]}"
                    }
                },
                "required": ["agent_id", "prompt"]
            }),
            &ended(),
            hints().idempotent(true),
        ),
        tool(
            "pause",
            "Pause until the human continues",
            "Stop until the human lets you continue. If the call times out, call it again with the same arguments.",
            &json!({
                "type": "object",
                "properties": {
                    "agent_id": agent_id(),
                    "prompt": { "type": "string", "description": "What to tell the human" }
                },
                "required": ["agent_id"]
            }),
            &ended(),
            hints().idempotent(true),
        ),
    ]
}

/// Reads the arguments of a call.
pub(super) fn parse(name: &str, arguments: JsonObject) -> Result<Call, ErrorData> {
    Ok(match name {
        "join" => Call::Join(read(name, arguments)?),
        "recall" => Call::Recall(read(name, arguments)?),
        "cue" => {
            let CueCall {
                agent_id,
                prompt,
                payload,
            } = read(name, arguments)?;
            Call::Wait(WaitCall {
                kind: Kind::Cue,
                agent_id,
                prompt: Some(prompt),
                payload: payload.and_then(payload_text),
            })
        }
        "pause" => {
            let PauseCall { agent_id, prompt } = read(name, arguments)?;
            Call::Wait(WaitCall {
                kind: Kind::Pause,
                agent_id,
                prompt,
                payload: None,
            })
        }
        other => {
            return Err(ErrorData::invalid_params(
                format!("there is no tool {}", quoted(other)),
                None,
            ));
        }
    })
}

/// Some models write the payload as a text of JSON; both mean the same.
fn payload_text(payload: Value) -> Option<String> {
    match payload {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn read<T: DeserializeOwned>(name: &str, arguments: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(format!("{name}: {error}"), None))
}

fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: &Value,
    output: &Value,
    annotations: ToolAnnotations,
) -> Tool {
    Tool::new(name, description, object(input.clone()))
        .with_title(title)
        .with_raw_output_schema(Arc::new(object(output.clone())))
        .with_annotations(annotations)
}

/// Describes how a wait ends: with an outcome, with outcomes of earlier questions, or with the question still open.
fn ended() -> Value {
    json!({
        "type": "object",
        "properties": {
            "result": { "type": "string", "enum": ["outcome", "mailbox", "open"] },
            "cue_id": { "type": ["string", "null"], "description": "The question" },
            "outcome": { "type": "string", "enum": ["answered", "declined", "cancelled"] },
            "text": { "type": "string", "description": "The human's word, as in the text content" },
            "answer": { "type": "object", "description": "The answer as data: text, reply, attachments" },
            "earlier": { "type": "array", "items": { "type": "object" } },
            "next": { "type": "string", "description": "What to do now" }
        },
        "required": ["result"]
    })
}

/// Asking a human destroys nothing and reaches no one else.
fn hints() -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .open_world(false)
}

fn agent_id() -> Value {
    json!({ "type": "string", "description": "The agent_id that join returned" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_may_come_as_an_object_or_as_its_text() {
        for payload in [json!({ "type": "confirm" }), json!("{\"type\":\"confirm\"}")] {
            let arguments = object(json!({ "agent_id": "bako-nefi", "prompt": "Go?", "payload": payload }));
            let Call::Wait(asked) = parse("cue", arguments).unwrap() else {
                panic!("not a wait")
            };
            assert_eq!(asked.payload.as_deref(), Some("{\"type\":\"confirm\"}"));
        }
    }

    #[test]
    fn a_missing_argument_and_an_unknown_tool_are_invalid_parameters() {
        assert!(parse("cue", object(json!({ "agent_id": "a" }))).is_err());
        assert!(parse("rm", JsonObject::new()).is_err());
    }
}
