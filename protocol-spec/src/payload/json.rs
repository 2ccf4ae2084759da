//! JSON as a tree that remembers how everything was written.
//!
//! A generic value type would round numbers, reorder keys and let the last of two equal keys win. Here every
//! node keeps its text, numbers are never read, and equal keys are refused.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{PAYLOAD_DEPTH_MAX, PayloadError};

/// One JSON value and the text it was written as.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) raw: &'a str,
    pub(super) value: Value<'a>,
}

/// The kind of a [`Node`].
#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Number,
    String(String),
    Array(Vec<Node<'a>>),
    Object(Members<'a>),
}

/// The members of an object, in the order written, each key once.
pub(super) type Members<'a> = Vec<Member<'a>>;

/// One member of an object.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) key: String,
    /// The key as written, with its quotes and escapes.
    pub(super) raw_key: &'a str,
    pub(super) node: Node<'a>,
}

impl Node<'_> {
    /// Returns the type of this value, with its article.
    pub(super) fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

/// Parses one JSON value and everything in it.
pub(super) fn parse(json: &str) -> Result<Node<'_>, PayloadError> {
    let raw: &RawValue = serde_json::from_str(json).map_err(|error| syntax(&error))?;
    node(raw, "$", 1)
}

fn node<'a>(raw: &'a RawValue, path: &str, depth: usize) -> Result<Node<'a>, PayloadError> {
    let text = raw.get();
    let value = match text.as_bytes().first() {
        Some(b'{') => Value::Object(members(text, path, depth)?),
        Some(b'[') => Value::Array(elements(text, path, depth)?),
        Some(b'"') => Value::String(read(text, path)?),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'n') => Value::Null,
        _ => Value::Number,
    };
    Ok(Node { raw: text, value })
}

fn elements<'a>(text: &'a str, path: &str, depth: usize) -> Result<Vec<Node<'a>>, PayloadError> {
    check_depth(path, depth)?;
    let raws: Vec<&RawValue> = read(text, path)?;
    raws.into_iter()
        .enumerate()
        .map(|(i, raw)| node(raw, &format!("{path}[{i}]"), depth + 1))
        .collect()
}

fn members<'a>(text: &'a str, path: &str, depth: usize) -> Result<Members<'a>, PayloadError> {
    check_depth(path, depth)?;
    let RawMembers(raws) = read(text, path)?;
    let mut seen = HashSet::with_capacity(raws.len());
    let mut members = Vec::with_capacity(raws.len());
    for (raw_key, raw) in raws {
        let key: String = read(raw_key.get(), path)?;
        let path = key_path(path, &key);
        if !seen.insert(key.clone()) {
            return Err(PayloadError::DuplicateKey { path });
        }
        let node = node(raw, &path, depth + 1)?;
        members.push(Member {
            key,
            raw_key: raw_key.get(),
            node,
        });
    }
    Ok(members)
}

fn check_depth(path: &str, depth: usize) -> Result<(), PayloadError> {
    if depth > PAYLOAD_DEPTH_MAX {
        return Err(PayloadError::TooDeep {
            path: path.to_owned(),
            max: PAYLOAD_DEPTH_MAX,
        });
    }
    Ok(())
}

/// Returns the path of `key` in the object at `path`; a key that is not a plain word is quoted.
pub(super) fn key_path(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain {
        format!("{path}.{key}")
    } else {
        format!("{path}[\"{}\"]", crate::text::shorten(key))
    }
}

/// Reads one level of text whose syntax is known to be good, so that only an escape can still be wrong.
fn read<'a, T: serde::Deserialize<'a>>(text: &'a str, path: &str) -> Result<T, PayloadError> {
    serde_json::from_str(text).map_err(|error| PayloadError::BrokenEscape {
        path: path.to_owned(),
        message: message(&error),
    })
}

fn syntax(error: &serde_json::Error) -> PayloadError {
    PayloadError::Syntax {
        line: error.line().max(1),
        column: error.column().max(1),
        message: message(error),
    }
}

/// Returns what the reader says without the position, which is said elsewhere.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The members of an object in the order written, equal keys included.
struct RawMembers<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
