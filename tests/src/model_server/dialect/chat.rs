//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Action, Asked, event, text_below};
use crate::model_server::tools::Tools;

pub(super) fn read(body: &Value) -> Asked {
    let mut tools = Tools::default();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        tools.add(
            function["name"].as_str().unwrap_or_default(),
            &function["parameters"],
        );
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
    let mut delta = message(action);
    if let Some(call) = delta.pointer_mut("/tool_calls/0") {
        call["index"] = json!(0);
    }
    let chunk = |delta: Value, finish: Value| {
        json!({ "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
    };
    let mut last = chunk(json!({}), json!(finish(action)));
    last["usage"] = usage();
    [
        event(None, &chunk(delta, Value::Null)),
        event(None, &last),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

pub(super) fn whole(action: &Action) -> Value {
    json!({ "id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{ "index": 0, "message": message(action), "finish_reason": finish(action) }],
            "usage": usage() })
}

fn message(action: &Action) -> Value {
    match action {
        Action::Say(text) => json!({ "role": "assistant", "content": text }),
        Action::Call { id, name, arguments } => {
            json!({ "role": "assistant", "content": null, "tool_calls": [{
            "id": id, "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() },
        }] })
        }
    }
}

fn finish(action: &Action) -> &'static str {
    match action {
        Action::Say(_) => "stop",
        Action::Call { .. } => "tool_calls",
    }
}

fn usage() -> Value {
    json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 })
}
