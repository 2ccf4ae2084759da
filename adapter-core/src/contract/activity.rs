//! The steps of tools that an agent runs by itself, for people who watch.

use std::borrow::Cow;

use protocol_spec::truncate::with_ellipsis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::redact;

/// The most bytes of an input or an output that are told.
const DETAIL_BYTES_MAX: usize = 64 * 1024;

/// One step of a tool that the CLI ran by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "activity")]
pub struct Activity<'a> {
    /// The step.
    pub data: ActivityData<'a>,
}

/// The step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityData<'a> {
    /// Whether the call starts or ends; a call whose start was not seen only ends.
    pub phase: Phase,
    /// Names the call; both its steps carry the same.
    pub call_id: Cow<'a, str>,
    /// The normalised name: Read, Edit, Write, Bash, Ls, Grep, ….
    pub name: Cow<'a, str>,
    /// The CLI's own key, for example `shellToolCall`.
    pub key: Cow<'a, str>,
    /// The argument that says most: the command, the path, the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'a, str>>,
    /// The outcome: `success`, `failure`, `rejected`, `error`, `timeout`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'a, str>>,
    /// The exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Whether a command was moved to the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_background: Option<bool>,
    /// Why it was rejected or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// The arguments of the call; only if details are requested, without secrets, truncated if long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The result of the call, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The changes to a file as a diff, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A phase of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The call begins.
    Started,
    /// The call ended.
    Completed,
}

/// Returns an input or an output as it may be told: without secrets, and as shortened text where it is long.
pub(crate) fn detail(json: &str) -> Value {
    let shown = redact(json);
    if shown.len() > DETAIL_BYTES_MAX {
        return Value::String(with_ellipsis(&shown, DETAIL_BYTES_MAX));
    }
    serde_json::from_str(&shown).unwrap_or_else(|_| Value::String(shown.into_owned()))
}

/// Returns the diff in an output, where it is one of an edited file.
pub(crate) fn diff_of(output: &Value) -> Option<String> {
    let success = output.get("success")?;
    success.get("diffString")?.as_str().map(str::to_owned)
}
