//! One line of JSON-RPC, as far as the proxy has to understand it.

use serde::Deserialize;
use serde_json::{Value, json};

/// The kind of a line. Anything else, such as a batch or no JSON at all, only passes through.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Value,
    },
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
}

impl Message {
    /// Reads a line; `None` when it is none of these.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let Line {
            id,
            method,
            params,
            result,
        } = serde_json::from_slice(line).ok()?;
        Some(match (id, method) {
            (Some(id), Some(method)) => Self::Request { id, method, params },
            (None, Some(method)) => Self::Notification { method, params },
            (Some(id), None) => Self::Response { id, result },
            (None, None) => return None,
        })
    }
}

/// Returns a member that is text.
pub(super) fn text<'a>(params: &'a Value, name: &str) -> Option<&'a str> {
    params.get(name)?.as_str()
}

pub(super) fn response(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(super) fn request(id: &str, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}
