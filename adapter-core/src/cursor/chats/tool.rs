//! Reads one tool call of the store into its unified form.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::message::{Detail, ToolDetail, ToolUse};
use super::schema::{Spec, decode_message};
use super::text::Text;
use super::tool_schema::tool_spec;
use super::wire::{Fields, WireError, last_bytes};
use crate::cursor::tool_kind::{UNKNOWN_TOOL_KEY, UNKNOWN_TOOL_NAME, tool_kind_by_field};

/// The field of a tool call that holds its id.
const CALL_ID_FIELD: u32 = 57;
/// The kinds that run a command and end with an exit code.
const SHELL_FIELDS: [u32; 2] = [1, 62];
/// The parts of a result that stand beside its variant.
const RESULT_SIBLINGS: [&str; 3] = ["isBackground", "terminalsFolder", "pid"];

/// The kind that reads a file, and the field of its success that names another blob.
const READ_FIELD: u32 = 8;
const CONTENT_BLOB_FIELD: u32 = 10;

/// The kind that stands for a step too large to be kept in place.
pub(super) const TRUNCATED_FIELD: u32 = 34;
/// The kind that starts a sub-agent.
pub(super) const TASK_FIELD: u32 = 19;

/// A tool call taken apart, before its arguments and result are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawToolCall {
    /// The field number of its kind; none if the call has no kind at all.
    pub(super) field: Option<u32>,
    /// The message of its kind.
    pub(super) body: Bytes,
}

/// Takes a tool call, a part of `blob`, apart.
///
/// A kind we know wins over other fields, because newer versions put further data beside it.
pub(super) fn split_tool_call(
    blob: &Bytes,
    message: &[u8],
) -> Result<(RawToolCall, Option<Text>), WireError> {
    let mut found: Option<(u32, &[u8])> = None;
    let mut is_known = false;
    let mut call_id = None;
    for field in Fields::new(message) {
        let field = field?;
        let Some(bytes) = field.value.bytes() else {
            continue;
        };
        if field.number == CALL_ID_FIELD {
            call_id = Some(Text::within(blob, bytes));
        } else if tool_kind_by_field(field.number).is_some() {
            (found, is_known) = (Some((field.number, bytes)), true);
        } else if !is_known && found.is_none() {
            found = Some((field.number, bytes));
        }
    }
    let body = found.map(|(_, body)| blob.slice_ref(body)).unwrap_or_default();
    Ok((
        RawToolCall {
            field: found.map(|(number, _)| number),
            body,
        },
        call_id,
    ))
}

/// Makes the use of a tool whose details are decoded when asked for.
pub(super) fn tool_use(call: RawToolCall, call_id: Option<Text>) -> ToolUse {
    let kind = call.field.and_then(tool_kind_by_field);
    ToolUse {
        name: Cow::Borrowed(kind.map_or(UNKNOWN_TOOL_NAME, |kind| kind.name)),
        key: Cow::Borrowed(kind.map_or(UNKNOWN_TOOL_KEY, |kind| kind.key)),
        oneof_field: call.field,
        call_id,
        steps: Vec::new(),
        detail: Detail::Stored(call),
    }
}

/// Decodes the arguments and the result of a tool call.
pub(super) fn decode_tool_call(call: &RawToolCall) -> ToolDetail {
    let field = call.field.unwrap_or(0);
    let spec = tool_spec(field);
    let (args_field, result_field) = if field == TRUNCATED_FIELD { (2, 3) } else { (1, 2) };
    let args = decode_part(&call.body, args_field, spec.args);
    let result = decode_part(&call.body, result_field, spec.result);
    let outcome = variant(&result).map(|name| outcome_name(name, spec.result));
    let exit_code = exit_code(field, outcome.as_deref(), &result);
    ToolDetail {
        args: Value::Object(args),
        is_error: is_error(outcome.as_deref(), exit_code, &result),
        outcome,
        exit_code,
        output: if result.is_empty() {
            Value::Null
        } else {
            Value::Object(result)
        },
    }
}

/// Returns the blob that a read file's content was moved to.
pub(super) fn content_blob(call: &RawToolCall) -> Option<&[u8]> {
    if call.field != Some(READ_FIELD) {
        return None;
    }
    let success = last_bytes(last_bytes(&call.body, 2).ok()??, 1).ok()??;
    last_bytes(success, CONTENT_BLOB_FIELD).ok()?
}

/// Decodes the arguments or the result. A tool we do not know may have something else in their place, which
/// is no reason to lose the call.
fn decode_part(body: &[u8], number: u32, spec: Spec) -> Map<String, Value> {
    let part = last_bytes(body, number).map(Option::unwrap_or_default);
    part.and_then(|part| decode_message(part, spec, 0))
        .unwrap_or_else(|error| {
            Map::from_iter([("#unreadable".to_owned(), Value::String(error.to_string()))])
        })
}

/// Returns the sub-agent's steps, each a message of its own.
pub(super) fn task_steps(body: &[u8]) -> Result<Vec<&[u8]>, WireError> {
    let success = match last_bytes(body, 2)? {
        Some(result) => last_bytes(result, 1)?,
        None => None,
    };
    let mut steps = Vec::new();
    for field in Fields::new(success.unwrap_or_default()) {
        let field = field?;
        if field.number == 1 {
            steps.extend(field.value.bytes());
        }
    }
    Ok(steps)
}

/// Returns the name of the variant a result is.
fn variant(result: &Map<String, Value>) -> Option<&str> {
    result
        .keys()
        .map(String::as_str)
        .find(|key| !RESULT_SIBLINGS.contains(key))
}

/// Returns a variant's name without a copy where the description has it.
fn outcome_name(name: &str, spec: Spec) -> Cow<'static, str> {
    let known = spec.iter().map(|field| field.name).find(|known| *known == name);
    known.map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed)
}

fn exit_code(field: u32, outcome: Option<&str>, result: &Map<String, Value>) -> Option<i64> {
    let outcome = outcome.filter(|_| SHELL_FIELDS.contains(&field))?;
    match (outcome, result[outcome].get("exitCode").and_then(Value::as_i64)) {
        // Protobuf leaves out a zero.
        ("success", None) => Some(0),
        (_, code) => code,
    }
}

fn is_error(outcome: Option<&str>, exit_code: Option<i64>, result: &Map<String, Value>) -> bool {
    match outcome {
        None => false,
        Some("success") => {
            exit_code.is_some_and(|code| code != 0)
                || result["success"].get("isError").and_then(Value::as_bool) == Some(true)
        }
        // A question put off, and recordings, have several ways to succeed.
        Some(outcome) => outcome != "async" && !outcome.ends_with("Success"),
    }
}

/// Says in text what a result is, preferring what a person would have seen.
pub(super) fn result_text(variant: &Value) -> Cow<'_, str> {
    const WHOLE: [&str; 10] = [
        "interleavedOutput",
        "content",
        "markdown",
        "diffString",
        "results",
        "modelVisibleError",
        "errorMessage",
        "error",
        "reason",
        "message",
    ];
    if let Some(text) = variant.as_str() {
        return Cow::Borrowed(text);
    }
    let whole = WHOLE
        .iter()
        .filter_map(|key| variant.get(key))
        .find_map(plain_text);
    whole
        .or_else(|| streams(variant))
        .or_else(|| files(variant))
        .unwrap_or_else(|| match variant {
            Value::Null => Cow::Borrowed(""),
            Value::Object(object) if object.is_empty() => Cow::Borrowed(""),
            other => Cow::Owned(other.to_string()),
        })
}

/// Returns a text, or the texts of a list of content parts.
fn plain_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Value::Array(parts) => {
            let texts: Vec<_> = parts
                .iter()
                .filter_map(|part| part["text"]["text"].as_str())
                .collect();
            (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
        }
        _ => None,
    }
}

fn streams(variant: &Value) -> Option<Cow<'_, str>> {
    let stream = |key| variant.get(key).and_then(Value::as_str).unwrap_or_default();
    if !["command", "stdout", "stderr"]
        .iter()
        .any(|key| variant.get(key).is_some())
    {
        return None;
    }
    Some(match (stream("stdout"), stream("stderr")) {
        (stdout, "") => Cow::Borrowed(stdout),
        (stdout, stderr) => Cow::Owned(format!("{stdout}{stderr}")),
    })
}

fn files(variant: &Value) -> Option<Cow<'_, str>> {
    let files = variant.get("files")?.as_array()?;
    Some(Cow::Owned(
        files
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
    ))
}
