//! One line of the CLI's stream as a flat, borrowed struct.
//!
//! Everything is read in a single pass over the line: the parts that matter become fields, large parts stay raw,
//! and the rest is skipped. Tagged enums would buffer the whole line first.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::scalar::Scalar;
use super::tool::ToolObject;

/// The fields of a line, whatever its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) subtype: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) session_id: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) message: MessageText<'a>,
    #[serde(borrow)]
    pub(crate) timestamp_ms: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) model_call_id: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) call_id: Scalar<'a>,
    #[serde(borrow)]
    /// Boxed, because a line is passed on by value and most have none.
    pub(crate) tool_call: Option<Box<ToolObject<'a>>>,
    #[serde(borrow)]
    pub(crate) model: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) is_error: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) result: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) attempt: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) query: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) text: Scalar<'a>,
    #[serde(borrow)]
    pub(crate) part: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) data: Option<&'a RawValue>,
}

/// Reads a value that must be an object; a list, whose items would be taken for the fields in order, is none.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    let is_object = raw.get().starts_with('{');
    is_object.then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// The text of a message: the text parts of its content, joined.
#[derive(Debug, Default)]
pub(crate) struct MessageText<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for MessageText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor).map(MessageText)
    }
}

/// Accepts a message object, its content array, or plain text in the place of either.
struct MessageVisitor;

struct Content<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor).map(Content)
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    text: Scalar<'a>,
}

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut text = Cow::Borrowed("");
        while let Some(key) = map.next_key::<Scalar<'de>>()? {
            if key.as_str() == Some("content") {
                text = map.next_value::<Content<'de>>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut joined: Cow<'de, str> = Cow::Borrowed("");
        while let Some(part) = seq.next_element::<Part<'de>>()? {
            let is_text = part.kind.as_str().is_none_or(|kind| kind == "text");
            let Some(text) = part.text.into_text().filter(|_| is_text) else {
                continue;
            };
            if joined.is_empty() {
                joined = text;
            } else {
                joined.to_mut().push_str(&text);
            }
        }
        Ok(joined)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        serde_json::from_str::<Line<'_>>(json)
            .unwrap()
            .message
            .0
            .into_owned()
    }

    #[test]
    fn the_text_parts_of_a_message_are_joined_without_a_separator() {
        assert_eq!(
            text(r#"{"message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}"#),
            "a"
        );
        assert_eq!(
            text(
                r#"{"message":{"content":[{"type":"text","text":"a"},{"type":"image","text":"x"},{"text":"b\n"}]}}"#
            ),
            "ab\n"
        );
        assert_eq!(text(r#"{"message":{"content":"plain"}}"#), "plain");
        assert_eq!(text(r#"{"message":"plain"}"#), "plain");
        assert_eq!(text(r#"{"message":null}"#), "");
        assert_eq!(text(r#"{"message":7}"#), "");
    }

    #[test]
    fn unexpected_types_never_make_a_line_malformed() {
        let json =
            r#"{"type":["x"],"subtype":{},"timestamp_ms":"1","tool_call":[1],"usage":3,"result":{"a":1}}"#;
        let line: Line<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(line.timestamp_ms.as_i64(), Some(1));
        assert!(line.result.as_str().is_none());
    }
}
