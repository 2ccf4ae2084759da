//! Converts the updates of a running turn into items for watchers and evidence for the gate.

use std::borrow::Cow;
use std::collections::BTreeSet;

use diffy::DiffOptions;
use protocol_spec::truncate::with_ellipsis;
use serde_json::Value;

use super::calls::{CALL_ID, ToolCalls};
use crate::contract::{
    Activity, ActivityData, CallKind, CallRecord, Event, Evidence, Item, Phase, ShellCommand, Sink, detail,
};
use crate::guard::redact;

/// The most calls that may run at once.
const OPEN_CALLS_MAX: usize = 1024;
/// The most bytes of a diff.
const DIFF_BYTES_MAX: usize = 64 * 1024;
/// The most characters of an argument shown as a hint.
const HINT_CHARS_MAX: usize = 512;

/// The state of a running turn.
#[derive(Debug, Default)]
pub(super) struct Updates {
    pub(super) calls: ToolCalls,
    pub(super) evidence: Evidence,
    pub(super) forwarded: u64,
    open: BTreeSet<String>,
    with_activity: bool,
    with_details: bool,
}

impl Updates {
    pub(super) fn new(with_activity: bool, with_details: bool) -> Self {
        Self {
            with_activity,
            with_details,
            ..Self::default()
        }
    }

    /// Takes one `session/update`.
    pub(super) fn take(&mut self, params: &Value, sink: &mut dyn Sink) {
        let Some(update) = params.get("update") else {
            return;
        };
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("agent_message_chunk") => {
                if let Some(text) = update.pointer("/content/text").and_then(Value::as_str) {
                    self.evidence.push_text(text);
                    self.forwarded += 1;
                    let content = Cow::Borrowed(text);
                    sink.item(Item::Event(Event::AssistantDelta { content }));
                }
            }
            Some("tool_call" | "tool_call_update") => self.call(update, sink),
            _ => {}
        }
    }

    fn call(&mut self, update: &Value, sink: &mut dyn Sink) {
        let Some(id) = update.get(CALL_ID).and_then(Value::as_str) else {
            return;
        };
        self.calls.learn(update);
        let call = Value::Object(self.calls.merged(id, &serde_json::Map::new()));
        let outcome = match update.get("status").and_then(Value::as_str) {
            Some("completed") => Some("success"),
            Some("failed") => Some("failure"),
            _ => None,
        };
        if !self.open.contains(id) && outcome.is_none() && self.open.len() < OPEN_CALLS_MAX {
            self.open.insert(id.to_owned());
            self.tell(id, &call, None, sink);
        }
        if let Some(outcome) = outcome {
            self.open.remove(id);
            self.tell(id, &call, Some(outcome), sink);
            self.evidence.last_call = Some(record(&call, outcome));
        }
        self.evidence.open_calls = self.open.len();
    }

    fn tell(&mut self, id: &str, call: &Value, outcome: Option<&str>, sink: &mut dyn Sink) {
        if !self.with_activity {
            return;
        }
        self.forwarded += 1;
        let phase = if outcome.is_some() {
            Phase::Completed
        } else {
            Phase::Started
        };
        let hint = command(call).or_else(|| text(call, "title"));
        let data = ActivityData {
            phase,
            call_id: Cow::Borrowed(id),
            name: Cow::Borrowed(text(call, "kind").unwrap_or("other")),
            key: Cow::Borrowed(text(call, "name").unwrap_or_default()),
            hint: hint.map(|hint| Cow::Owned(hint.chars().take(HINT_CHARS_MAX).collect())),
            outcome: outcome.map(Cow::Borrowed),
            exit_code: outcome.and_then(|_| exit_code(call)),
            is_background: None,
            reason: None,
            input: self.told("rawInput", call),
            output: outcome.and_then(|_| self.told("rawOutput", call)),
            diff: outcome.and_then(|_| self.diff(call)),
        };
        sink.item(Item::Activity(Box::new(Activity { data })));
    }
}

impl Updates {
    fn told(&self, member: &str, call: &Value) -> Option<Value> {
        let value = call.get(member).filter(|_| self.with_details)?;
        Some(detail(&value.to_string()))
    }

    /// Returns what a call changed, as the agent shows it: the old and the new text of each file.
    fn diff(&self, call: &Value) -> Option<String> {
        let parts = call.get("content").filter(|_| self.with_details)?.as_array()?;
        let diffs: Vec<&Value> = parts.iter().filter(|part| part["type"] == "diff").collect();
        (!diffs.is_empty()).then(|| {
            let shown = diffs
                .iter()
                .map(|part| diff_text(part))
                .collect::<Vec<_>>()
                .join("\n");
            redact(&with_ellipsis(&shown, DIFF_BYTES_MAX)).into_owned()
        })
    }
}

fn diff_text(part: &Value) -> String {
    let old = text(part, "oldText").unwrap_or_default();
    let new = text(part, "newText").unwrap_or_default();
    let path = text(part, "path").unwrap_or("a file");
    DiffOptions::new()
        .set_original_filename(path.to_owned())
        .set_modified_filename(path.to_owned())
        .create_patch(old, new)
        .to_string()
}

fn record(call: &Value, outcome: &str) -> CallRecord {
    let what = match command(call) {
        Some(command) => CallKind::Shell(ShellCommand {
            command: command.to_owned(),
            parsed: None,
        }),
        None => mcp(call).unwrap_or_default(),
    };
    CallRecord {
        key: text(call, "title")
            .or_else(|| text(call, "kind"))
            .unwrap_or("a tool")
            .to_owned(),
        outcome: outcome.to_owned(),
        exit_code: exit_code(call),
        is_background: call.pointer("/rawInput/isBackground") == Some(&Value::Bool(true)),
        what,
    }
}

/// Reads a tool of an MCP server, as Cursor writes it.
fn mcp(call: &Value) -> Option<CallKind> {
    let input = call.get("rawInput")?;
    Some(CallKind::Mcp {
        tool: text(input, "toolName")?.to_owned(),
        server: text(input, "providerIdentifier").unwrap_or_default().to_owned(),
    })
}

fn command(call: &Value) -> Option<&str> {
    call.pointer("/rawInput/command")?.as_str()
}

fn exit_code(call: &Value) -> Option<i64> {
    let output = call.get("rawOutput")?;
    output
        .get("exitCode")
        .or_else(|| output.get("exit_code"))?
        .as_i64()
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_twice_and_the_last_one_is_evidence() {
        let mut updates = Updates::new(true, false);
        let mut phases = Vec::new();
        let mut sink = |item: Item<'_>| {
            if let Item::Activity(activity) = item {
                phases.push((activity.data.phase, activity.data.hint.map(Cow::into_owned)));
            }
        };
        let update = |value: Value| json!({"sessionId": "s", "update": value});
        let input = json!({"command": "cueme cue a -"});
        updates.take(
            &update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "rawInput": input})),
            &mut sink,
        );
        assert_eq!(updates.evidence.open_calls, 1);
        let output = json!({"exitCode": 0});
        let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": output});
        updates.take(&update(ended), &mut sink);
        let hint = Some("cueme cue a -".to_owned());
        assert_eq!(phases, [(Phase::Started, hint.clone()), (Phase::Completed, hint)]);
        let last = updates.evidence.last_call.unwrap();
        assert_eq!((updates.evidence.open_calls, last.exit_code), (0, Some(0)));
        assert!(matches!(last.what, CallKind::Shell(shell) if shell.command == "cueme cue a -"));
    }
}
