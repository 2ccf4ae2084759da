//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Action, Asked, event, text_below};
use crate::model_server::tools::Tools;

pub(super) fn read(body: &Value) -> Asked {
    let mut tools = Tools::default();
    for tool in body["tools"].as_array().into_iter().flatten() {
        tools.add(tool["name"].as_str().unwrap_or_default(), &tool["input_schema"]);
    }
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    Asked::of(
        &messages,
        tools,
        |message| message["role"] == "assistant",
        |message| text_below(&message["content"]),
    )
}

pub(super) fn stream(action: &Action) -> String {
    let mut message = whole(action);
    let block = message["content"][0].take();
    message["content"] = json!([]);
    let stop_reason = message["stop_reason"].take();
    let (start, delta) = match action {
        Action::Say(text) => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": text }),
        ),
        Action::Call { arguments, .. } => {
            let mut start = block;
            start["input"] = json!({});
            (
                start,
                json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            )
        }
    };
    [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason, "stop_sequence": null },
                "usage": { "output_tokens": 10 } }),
        json!({ "type": "message_stop" }),
    ]
    .iter()
    .map(|data| event(data["type"].as_str(), data))
    .collect()
}

pub(super) fn whole(action: &Action) -> Value {
    let (block, stop_reason) = match action {
        Action::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Action::Call { id, name, arguments } => (
            json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }),
            "tool_use",
        ),
    };
    json!({
        "id": format!("msg_{}", uuid::Uuid::new_v4().simple()),
        "type": "message", "role": "assistant", "model": "scripted", "content": [block],
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 10 },
    })
}
