//! Real stores, where they are checked out beside the project.

use std::fs;
use std::path::Path;

use adapter_core::cursor::chats::load_chat;
use serde_json::{Value, json};

/// Also runs over the stores that are shared between projects, where they are checked out beside this one.
#[test]
fn shared_stores_load_to_what_is_expected_of_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/cursor-chats");
    let Ok(expected) = fs::read(dir.join("expected.json")) else {
        eprintln!("not run: there are no shared stores beside the project");
        return;
    };
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for (name, expected) in expected.as_object().unwrap() {
        let chat = load_chat(&dir.join(name)).unwrap();
        let json: Value = serde_json::from_str(&serde_json::to_string(&chat).unwrap()).unwrap();
        assert_eq!(json["chat_id"], expected["meta"]["agentId"]);
        assert_eq!(json["name"], expected["meta"]["name"]);
        assert_eq!(json["mode"], expected["meta"]["mode"]);
        assert_eq!(json["created_at"], expected["meta"]["createdAt"]);
        assert_eq!(json["warnings"], expected["warnings"]);
        let messages = json["messages"].as_array().unwrap();
        let wanted = expected["messages"].as_array().unwrap();
        assert_eq!(messages.len(), wanted.len());
        for (message, wanted) in messages.iter().zip(wanted) {
            check_shared_message(message, wanted);
        }
    }
}

fn check_shared_message(message: &Value, wanted: &Value) {
    let role = wanted["role"].as_str().unwrap();
    assert_eq!(message["role"], if role == "user_shell" { "user" } else { role });
    let tool = &message["tools"][0];
    for (key, value) in wanted.as_object().unwrap() {
        let found = match key.as_str() {
            "role" => continue,
            "text" | "message_id" => &message[key],
            "stdout" => &tool["output"]["success"]["stdout"],
            "command" | "path" => &tool["args"][key],
            "mcp" => {
                let args = &tool["args"];
                let found = json!({"name": args["name"], "provider": args["providerIdentifier"], "tool": args["toolName"]});
                assert_eq!(&found, value);
                continue;
            }
            _ => &tool[key],
        };
        assert_eq!(found, value, "{key} of {message}");
    }
}
