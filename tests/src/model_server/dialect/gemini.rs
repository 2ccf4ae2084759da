//! Gemini's generateContent.

use serde_json::{Value, json};

use super::{Action, Asked, event, text_below};
use crate::model_server::tools::Tools;

pub(super) fn read(body: &Value) -> Asked {
    let mut tools = Tools::default();
    let groups = body["tools"].as_array().into_iter().flatten();
    for tool in groups.flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten()) {
        let schema = if tool["parametersJsonSchema"].is_null() {
            lower_types(&tool["parameters"])
        } else {
            tool["parametersJsonSchema"].clone()
        };
        tools.add(tool["name"].as_str().unwrap_or_default(), &schema);
    }
    let contents = body["contents"].as_array().cloned().unwrap_or_default();
    Asked::of(
        &contents,
        tools,
        |content| content["role"] == "model",
        |content| text_below(&content["parts"]),
    )
}

/// Gemini's own schemas write types in capitals.
fn lower_types(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let value = match value {
                    Value::String(name) if key == "type" => json!(name.to_ascii_lowercase()),
                    other => lower_types(other),
                };
                (key.clone(), value)
            })
            .collect(),
        other => other.clone(),
    }
}

pub(super) fn stream(action: &Action) -> String {
    event(None, &whole(action))
}

pub(super) fn whole(action: &Action) -> Value {
    let part = match action {
        Action::Say(text) => json!({ "text": text }),
        Action::Call { id, name, arguments } => {
            json!({ "functionCall": { "id": id, "name": name, "args": arguments } })
        }
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 },
        "modelVersion": "scripted",
    })
}
