//! The tool calls of a session, as the agent described them bit by bit.
//!
//! A permission request may name a call without repeating its input, so what was said before is kept, as it was written.

use std::collections::VecDeque;

use serde_json::{Map, Value};

/// The most calls that are remembered.
const CALLS_MAX: usize = 256;
/// The most bytes of one call; a larger one is forgotten, and no human is asked about it.
const CALL_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The most bytes of all of them.
const ALL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The member that names a call.
pub(super) const CALL_ID: &str = "toolCallId";
/// The member that says which kind of update this is.
const UPDATE_KIND: &str = "sessionUpdate";

/// The tool calls that an agent has reported.
#[derive(Debug, Default)]
pub struct ToolCalls {
    calls: VecDeque<Call>,
}

#[derive(Debug)]
struct Call {
    id: String,
    members: Map<String, Value>,
    bytes: usize,
}

impl ToolCalls {
    /// Takes over what an update says of a call.
    pub fn learn(&mut self, update: &Value) {
        let Some(said) = update.as_object() else { return };
        let Some(id) = said.get(CALL_ID).and_then(Value::as_str) else {
            return;
        };
        let members = self.merged(id, said);
        let bytes = bytes_of(&members);
        self.calls.retain(|call| call.id != id);
        if bytes > CALL_BYTES_MAX {
            return;
        }
        self.calls.push_back(Call {
            id: id.to_owned(),
            members,
            bytes,
        });
        while self.calls.len() > CALLS_MAX || self.bytes() > ALL_BYTES_MAX {
            self.calls.pop_front();
        }
    }

    /// Returns all that is known of a call together with what is said of it now.
    pub(super) fn merged(&self, id: &str, said: &Map<String, Value>) -> Map<String, Value> {
        let known = self.calls.iter().find(|call| call.id == id);
        let mut members = known.map(|call| call.members.clone()).unwrap_or_default();
        for (name, value) in said.iter().filter(|(name, _)| *name != UPDATE_KIND) {
            members.insert(name.clone(), value.clone());
        }
        members
    }

    fn bytes(&self) -> usize {
        self.calls.iter().map(|call| call.bytes).sum()
    }
}

fn bytes_of(members: &Map<String, Value>) -> usize {
    serde_json::to_string(members).map_or(usize::MAX, |text| text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_request_that_only_names_a_call_is_joined_with_its_input() {
        let mut calls = ToolCalls::default();
        calls.learn(&json!({"sessionUpdate": "tool_call", "toolCallId": "c", "rawInput": {"command": "ls"}}));
        calls.learn(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "List"}));
        let call = calls.merged("c", &said(&json!({"toolCallId": "c"})));
        assert_eq!(
            Value::Object(call),
            json!({"toolCallId": "c", "rawInput": {"command": "ls"}, "title": "List"})
        );
    }

    #[test]
    fn what_is_remembered_is_limited() {
        let mut calls = ToolCalls::default();
        for number in 0..2 * CALLS_MAX {
            calls.learn(&json!({"toolCallId": number.to_string()}));
        }
        assert_eq!(calls.calls.len(), CALLS_MAX);
        calls.learn(&json!({"toolCallId": "huge", "rawInput": "x".repeat(CALL_BYTES_MAX)}));
        assert!(calls.merged("huge", &Map::new()).is_empty());
        for number in 0..12 {
            calls.learn(
                &json!({"toolCallId": number.to_string(), "rawInput": "x".repeat(CALL_BYTES_MAX - 200)}),
            );
        }
        assert!(calls.bytes() <= ALL_BYTES_MAX);
    }
}
