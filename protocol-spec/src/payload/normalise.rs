//! Adds the missing defaults, and leaves everything else as it was written.

use super::json::{self, Member, Members, Node, Value};
use super::read::member;
use super::{CANCEL_LABEL, CONFIRM_LABEL};

/// The keys of a choice that need not be written, as JSON.
const CHOICE: &[(&str, &str)] = &[("allow_multiple", "false")];

/// The keys of a form field that need not be written, as JSON.
const FIELD: &[(&str, &str)] = &[
    ("kind", "\"text\""),
    ("allow_multiple", "false"),
    ("required", "false"),
];

/// Returns the normal form of `written`, which is a valid payload.
pub(super) fn normalise(written: &str) -> String {
    match json::parse(written) {
        Ok(Node {
            value: Value::Object(members),
            ..
        }) => payload(&members),
        // Only valid payloads are kept, so there is nothing to normalise and nothing to lose here.
        _ => compact(written),
    }
}

fn payload(members: &Members<'_>) -> String {
    let (confirm, cancel) = (format!("\"{CONFIRM_LABEL}\""), format!("\"{CANCEL_LABEL}\""));
    let kind = match member(members, "type") {
        Some(Node {
            value: Value::String(kind),
            ..
        }) => Some(kind.as_str()),
        _ => None,
    };
    match kind {
        Some("choice") => object(members, CHOICE, |_, node| compact(node.raw)),
        Some("confirm") => {
            let defaults = [
                ("confirm_label", confirm.as_str()),
                ("cancel_label", cancel.as_str()),
            ];
            object(members, &defaults, |_, node| compact(node.raw))
        }
        _ => object(members, &[], |key, node| match &node.value {
            Value::Array(nodes) if key == "fields" => fields(nodes),
            _ => compact(node.raw),
        }),
    }
}

fn fields(nodes: &[Node<'_>]) -> String {
    let fields: Vec<String> = nodes
        .iter()
        .map(|node| match &node.value {
            Value::Object(members) => object(members, FIELD, |_, node| compact(node.raw)),
            _ => compact(node.raw),
        })
        .collect();
    format!("[{}]", fields.join(","))
}

/// Writes the members in their order, then the missing defaults; a default replaces a null.
fn object(
    members: &Members<'_>,
    defaults: &[(&str, &str)],
    value: impl Fn(&str, &Node<'_>) -> String,
) -> String {
    let default_of = |key: &str| {
        defaults
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, json)| *json)
    };
    let mut parts: Vec<String> = Vec::with_capacity(members.len() + defaults.len());
    for Member { key, raw_key, node } in members {
        let json = match (default_of(key), &node.value) {
            (Some(default), Value::Null) => default.to_owned(),
            _ => value(key, node),
        };
        parts.push(format!("{raw_key}:{json}"));
    }
    for (key, json) in defaults {
        if !members.iter().any(|member| member.key == *key) {
            parts.push(format!("\"{key}\":{json}"));
        }
    }
    format!("{{{}}}", parts.join(","))
}

/// Removes the white space between the tokens of valid JSON.
pub(super) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}
