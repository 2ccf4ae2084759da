//! `session/request_permission`: may this tool run?
//!
//! The question shows everything that the agent said of the call, and only an option that allows it once, or the one
//! that the human picked, lets it run. Words are a refusal.

use std::path::Path;

use protocol_spec::answer::{Reply, consent};
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::Outcome;
use protocol_spec::payload::{OPTION_BYTES_MAX, Payload, Shape};
use serde_json::{Map, Value, json};

use super::calls::{CALL_ID, ToolCalls};
use super::question::AcpForm;
use crate::hap::{approval_prompt, distinct};

const CONFIRM: &str = r#"{"type":"confirm","confirm_label":"Allow","cancel_label":"Deny"}"#;
const ALLOW_ONCE: &str = "allow_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";
const REJECT_ALWAYS: &str = "reject_always";
/// The members of a call that are shown elsewhere, or say nothing about what it does.
const APART: [&str; 4] = [CALL_ID, "title", "status", "rawInput"];
/// The member under which the rest of a call is shown beside its input.
const REST: &str = "toolCall";

/// The members beside a command that do not change what it does: `cueme` is found by PATH, in any folder.
const HARMLESS: [&str; 8] = [
    "description",
    "timeout",
    "run_in_background",
    "isBackground",
    "cwd",
    "directory",
    "dir_path",
    "workingDirectory",
];

/// A permission that an agent asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Permission {
    prompt: String,
    options: Vec<PermissionOption>,
    call: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
struct PermissionOption {
    id: Value,
    name: String,
    kind: String,
}

impl Permission {
    /// Reads the request; `None` when it is malformed, or too large to be shown whole.
    pub(super) fn read(params: &Value, calls: &ToolCalls, folder: Option<&Path>) -> Option<Self> {
        let said = params.get("toolCall")?.as_object()?;
        let call = calls.merged(said.get(CALL_ID)?.as_str()?, said);
        let options = params.get("options")?.as_array()?.iter().map(option);
        let options: Vec<PermissionOption> = options.collect::<Option<_>>()?;
        let title = call.get("title").and_then(Value::as_str).unwrap_or("a tool");
        let prompt = approval_prompt(title, &input_of(&call), folder)?;
        Some(Self {
            prompt,
            options,
            call,
        })
    }

    pub(super) fn form(&self) -> AcpForm {
        AcpForm {
            prompt: self.prompt.clone(),
            payload: Some(self.payload()),
        }
    }

    /// Returns the command that the call would run, where it runs that command and does nothing else.
    ///
    /// A call of another kind, or with members that could change what runs, is for the human, whatever its command says.
    pub(super) fn command(&self) -> Option<&str> {
        let is_execution = self.call.get("kind").and_then(Value::as_str) == Some("execute");
        let input = self.call.get("rawInput")?.as_object()?;
        let is_harmless = |(name, value): (&String, &Value)| {
            name == "command" || HARMLESS.contains(&name.as_str()) && !value.is_object() && !value.is_array()
        };
        let mut content = self
            .call
            .get("content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let changes_files = content.any(|part| part.get("type").and_then(Value::as_str) == Some("diff"));
        let is_plain = is_execution && !changes_files && input.iter().all(is_harmless);
        input.get("command").filter(|_| is_plain)?.as_str()
    }

    /// Tells whether the agent still means the same call.
    pub(super) fn is_unchanged(&self, calls: &ToolCalls) -> bool {
        let id = self.call.get(CALL_ID).and_then(Value::as_str).unwrap_or_default();
        let now = calls.merged(id, &Map::new());
        let input = |call: &Map<String, Value>| call.get("rawInput").cloned();
        now.is_empty() || input(&now).is_none() || input(&now) == input(&self.call)
    }

    /// Returns the reply that lets the call run once; none where the agent offers no such option.
    pub(super) fn allow_once(&self) -> Option<Value> {
        self.of_kind(&[ALLOW_ONCE]).map(selected)
    }

    pub(super) fn result(&self, told: &DeliveredOutcome) -> Value {
        match self.picked(told) {
            Some(option) => selected(option),
            None => self.refusal(&told.text),
        }
    }

    pub(super) fn refusal(&self, reason: &str) -> Value {
        let mut result = match self.of_kind(&[REJECT_ONCE, REJECT_ALWAYS]) {
            Some(option) => selected(option),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        };
        if !reason.is_empty() {
            result["_meta"] = json!({"cueme": {"reason": reason}});
        }
        result
    }

    /// Returns the option that the human meant; none is a refusal.
    fn picked(&self, told: &DeliveredOutcome) -> Option<&PermissionOption> {
        let answer = told
            .answer
            .as_ref()
            .filter(|_| told.outcome == Outcome::Answered)?;
        let is_yes = match (&answer.reply, &answer.text) {
            (Some(Reply::Confirm { confirmed }), _) => *confirmed,
            (
                Some(Reply::Choice {
                    selected,
                    other: None,
                }),
                _,
            ) if selected.len() == 1 => {
                let place = self.labels().iter().position(|label| *label == selected[0])?;
                return self.options.get(place);
            }
            (None, Some(text)) => self.is_plain() && means_allow(text),
            _ => false,
        };
        is_yes.then(|| self.of_kind(&[ALLOW_ONCE])).flatten()
    }

    /// Tells whether there is nothing to choose but once yes and once no.
    fn is_plain(&self) -> bool {
        let count = |kind: &str| self.options.iter().filter(|option| option.kind == kind).count();
        self.options.len() == 2 && count(ALLOW_ONCE) == 1 && count(REJECT_ONCE) == 1
    }

    fn payload(&self) -> String {
        if self.is_plain() {
            return CONFIRM.to_owned();
        }
        json!({"type": "choice", "options": self.labels(), "allow_multiple": false}).to_string()
    }

    fn labels(&self) -> Vec<String> {
        let names: Vec<String> = self.options.iter().map(PermissionOption::label).collect();
        distinct(names.iter().map(String::as_str), OPTION_BYTES_MAX)
    }

    fn of_kind(&self, kinds: &[&str]) -> Option<&PermissionOption> {
        kinds
            .iter()
            .find_map(|kind| self.options.iter().find(|option| option.kind == *kind))
    }
}

impl PermissionOption {
    /// An agent chooses the words, so the kind is told as well: "Yes" may mean always.
    fn label(&self) -> String {
        let name = self.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let kind = match self.kind.as_str() {
            ALLOW_ONCE => "allow once",
            ALLOW_ALWAYS => "allow always",
            REJECT_ONCE => "reject once",
            REJECT_ALWAYS => "reject always",
            _ => "unknown kind",
        };
        if name.eq_ignore_ascii_case(kind) {
            name
        } else {
            format!("{name} ({kind})")
        }
    }
}

fn option(value: &Value) -> Option<PermissionOption> {
    Some(PermissionOption {
        id: value.get("optionId")?.clone(),
        name: value
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        kind: value
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    })
}

/// Returns everything that was said of a call: its input, and beside it what else there is.
fn input_of(call: &Map<String, Value>) -> Value {
    let rest: Map<String, Value> = call
        .iter()
        .filter(|(name, _)| !APART.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match call.get("rawInput") {
        Some(Value::Object(input)) if !input.contains_key(REST) => {
            let mut shown = input.clone();
            if !rest.is_empty() {
                shown.insert(REST.to_owned(), Value::Object(rest));
            }
            Value::Object(shown)
        }
        Some(input) => json!({"rawInput": input, REST: rest}),
        None => Value::Object(rest),
    }
}

fn selected(option: &PermissionOption) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option.id}})
}

fn means_allow(text: &str) -> bool {
    let payload = Payload::parse(CONFIRM).ok();
    match payload.as_ref().map(Payload::shape) {
        Some(Shape::Confirm(confirm)) => consent(text, confirm) == Some(true),
        _ => false,
    }
}
