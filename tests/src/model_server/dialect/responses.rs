//! OpenAI's responses.

use serde_json::{Value, json};

use super::{Action, Asked, event, text_below};
use crate::model_server::tools::Tools;

/// Separates the name of a namespace from that of a tool in it, in [`Tools`] only.
const IN: &str = "::";

pub(super) fn read(body: &Value) -> Asked {
    let mut tools = Tools::default();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        if tool["type"] == "namespace" {
            for inner in tool["tools"].as_array().into_iter().flatten() {
                let inner_name = inner["name"].as_str().unwrap_or_default();
                tools.add(&format!("{name}{IN}{inner_name}"), &inner["parameters"]);
            }
        } else {
            tools.add(name, &tool["parameters"]);
        }
    }
    let input = body["input"].as_array().cloned().unwrap_or_default();
    Asked::of(&input, tools, is_own, |item| {
        let content = if item["output"].is_null() {
            "content"
        } else {
            "output"
        };
        text_below(&item[content])
    })
}

fn is_own(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    item["role"] == "assistant" || kind == "reasoning" || kind.ends_with("_call")
}

pub(super) fn stream(action: &Action) -> String {
    let response = whole(action);
    let item = &response["output"][0];
    let mut created = response.clone();
    created["status"] = json!("in_progress");
    created["output"] = json!([]);
    let text = item.pointer("/content/0/text").cloned();
    let mut events = vec![
        json!({ "type": "response.created", "response": created }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": started(item) }),
    ];
    if let Some(text) = text {
        events.push(
            json!({ "type": "response.content_part.added", "item_id": item["id"], "output_index": 0,
            "content_index": 0, "part": { "type": "output_text", "text": "", "annotations": [] } }),
        );
        events.push(
            json!({ "type": "response.output_text.delta", "item_id": item["id"], "output_index": 0,
            "content_index": 0, "delta": text }),
        );
    }
    events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
    events.push(json!({ "type": "response.completed", "response": response }));
    events
        .iter()
        .map(|data| event(data["type"].as_str(), data))
        .collect()
}

/// An item before it has said anything.
fn started(item: &Value) -> Value {
    let mut started = item.clone();
    started["status"] = json!("in_progress");
    if item["type"] == "message" {
        started["content"] = json!([]);
    } else {
        started["arguments"] = json!("");
    }
    started
}

pub(super) fn whole(action: &Action) -> Value {
    let item = match action {
        Action::Say(text) => json!({
            "type": "message", "role": "assistant", "id": format!("msg_{}", uuid::Uuid::new_v4().simple()),
            "status": "completed", "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Action::Call { id, name, arguments } => {
            let mut call = json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                "arguments": arguments.to_string(), "status": "completed",
            });
            if let Some((namespace, inner)) = name.split_once(IN) {
                call["namespace"] = json!(namespace);
                call["name"] = json!(inner);
            }
            call
        }
    };
    json!({
        "id": format!("resp_{}", uuid::Uuid::new_v4().simple()), "object": "response", "status": "completed",
        "created_at": 1, "model": "scripted", "output": [item],
        "usage": { "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 10,
                   "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 110 },
    })
}
