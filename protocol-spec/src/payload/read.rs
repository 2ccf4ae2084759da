//! Reads the pieces that all shapes are made of, each with its path.

use std::collections::HashMap;

use super::json::{Members, Node, Value};
use super::{OPTION_BYTES_MAX, OPTIONS_MAX, PayloadError};
use crate::text::{is_blank, shorten};

/// Returns the value of `key`; null counts as not written, as many serialisers write it for nothing.
pub(super) fn member<'m, 'a>(members: &'m Members<'a>, key: &str) -> Option<&'m Node<'a>> {
    let node = &members.iter().find(|member| member.key == key)?.node;
    if matches!(node.value, Value::Null) {
        None
    } else {
        Some(node)
    }
}

/// Reads an optional boolean, false when it is not written.
pub(super) fn flag(members: &Members<'_>, path: &str, key: &str) -> Result<bool, PayloadError> {
    match member(members, key) {
        None => Ok(false),
        Some(Node {
            value: Value::Bool(value),
            ..
        }) => Ok(*value),
        Some(node) => {
            let hint = format!(r#"write "{key}":true or "{key}":false, without quotes around the value"#);
            Err(wrong_type(&format!("{path}.{key}"), "true or false", node, &hint))
        }
    }
}

/// Reads an optional string of at most `max` bytes.
pub(super) fn text<'m>(
    members: &'m Members<'_>,
    path: &str,
    key: &str,
    max: usize,
) -> Result<Option<&'m str>, PayloadError> {
    let path = format!("{path}.{key}");
    match member(members, key) {
        None => Ok(None),
        Some(Node {
            value: Value::String(text),
            ..
        }) => {
            check_length(&path, text, max)?;
            Ok(Some(text))
        }
        Some(node) => Err(wrong_type(&path, "a string", node, &as_string(node))),
    }
}

/// Checks that a label can be read and stands on one line.
pub(super) fn check_label(path: &str, label: &str) -> Result<(), PayloadError> {
    if is_blank(label) {
        return Err(PayloadError::Blank {
            path: path.to_owned(),
            hint: "write what the person should see".into(),
        });
    }
    if label.contains(['\n', '\r']) {
        return Err(PayloadError::LineBreak {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// Reads the list of options at `path`, which may be empty here.
pub(super) fn options(node: &Node<'_>, path: &str) -> Result<Vec<String>, PayloadError> {
    let Value::Array(nodes) = &node.value else {
        let hint = match &node.value {
            Value::String(_) => format!(r#"write a list: "options":[{}]"#, node.raw),
            _ => r#"write a list of strings: "options":["Continue","Stop"]"#.to_owned(),
        };
        return Err(wrong_type(path, "an array of strings", node, &hint));
    };
    check_count(path, nodes.len(), OPTIONS_MAX)?;
    let mut options = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        options.push(option(node, &format!("{path}[{i}]"))?);
    }
    check_distinct(&options, |i| format!("{path}[{i}]"))?;
    Ok(options)
}

fn option(node: &Node<'_>, path: &str) -> Result<String, PayloadError> {
    let Value::String(option) = &node.value else {
        return Err(wrong_type(path, "a string", node, &as_string(node)));
    };
    check_length(path, option, OPTION_BYTES_MAX)?;
    if is_blank(option) {
        let hint = "write what the person should see, or remove it".to_owned();
        return Err(PayloadError::Blank {
            path: path.to_owned(),
            hint,
        });
    }
    Ok(option.clone())
}

/// Checks that no two texts look the same; `path` names the text at an index.
pub(super) fn check_distinct<T: AsRef<str>>(
    texts: &[T],
    path: impl Fn(usize) -> String,
) -> Result<(), PayloadError> {
    let mut first_at = HashMap::with_capacity(texts.len());
    for (i, text) in texts.iter().enumerate() {
        if let Some(first) = first_at.insert(text.as_ref().trim(), i) {
            return Err(PayloadError::Duplicate {
                path: path(i),
                first: path(first),
                value: shorten(text.as_ref()),
            });
        }
    }
    Ok(())
}

pub(super) fn check_count(path: &str, count: usize, max: usize) -> Result<(), PayloadError> {
    if count > max {
        return Err(PayloadError::TooMany {
            path: path.to_owned(),
            count,
            max,
        });
    }
    Ok(())
}

fn check_length(path: &str, text: &str, max: usize) -> Result<(), PayloadError> {
    let bytes = text.len();
    if bytes > max {
        return Err(PayloadError::TooLong {
            path: path.to_owned(),
            bytes,
            max,
        });
    }
    Ok(())
}

pub(super) fn wrong_type(path: &str, expected: &'static str, node: &Node<'_>, hint: &str) -> PayloadError {
    let found = match &node.value {
        Value::Array(_) | Value::Object(_) => node.type_name().to_owned(),
        _ => format!("{} {}", node.type_name(), shorten(node.raw)),
    };
    PayloadError::WrongType {
        path: path.to_owned(),
        expected,
        found,
        hint: hint.to_owned(),
    }
}

/// Says how to write as a string what was written as something else.
fn as_string(node: &Node<'_>) -> String {
    match &node.value {
        Value::Number | Value::Bool(_) => format!(r#"write it as a string: "{}""#, shorten(node.raw)),
        Value::Object(members) => match label_of(members) {
            Some(label) => format!(r#"write its label alone: "{}""#, shorten(label)),
            None => "write a plain string".into(),
        },
        _ => "write a plain string".into(),
    }
}

/// Returns the text an object most likely stands for.
fn label_of<'m>(members: &'m Members<'_>) -> Option<&'m str> {
    ["label", "text", "title", "name", "value", "id"]
        .into_iter()
        .find_map(|key| match member(members, key) {
            Some(Node {
                value: Value::String(text),
                ..
            }) => Some(text.as_str()),
            _ => None,
        })
}
