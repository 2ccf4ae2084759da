//! One line of the CLI's stream as a flat, borrowed struct.
//!
//! Everything is read in a single pass over the line: the parts that matter become fields, large parts stay raw,
//! and the rest is skipped. Tagged enums would buffer the whole line first.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::object::{Entries, Fill, Key, skip};
use super::scalar::Scalar;
use super::tool::ToolObject;

/// The fields of a line, whatever its type.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    pub(crate) kind: Scalar<'a>,
    pub(crate) subtype: Scalar<'a>,
    pub(crate) session_id: Scalar<'a>,
    pub(crate) message: MessageText<'a>,
    /// Only whether it is there matters, as with the next.
    pub(crate) timestamp_ms: Option<IgnoredAny>,
    pub(crate) model_call_id: Option<IgnoredAny>,
    pub(crate) call_id: Scalar<'a>,
    /// Boxed, because it is big and most lines have none.
    pub(crate) tool_call: Option<Box<ToolObject<'a>>>,
    pub(crate) model: Scalar<'a>,
    pub(crate) is_error: Scalar<'a>,
    pub(crate) result: Scalar<'a>,
    pub(crate) error: Option<&'a RawValue>,
    pub(crate) usage: Option<&'a RawValue>,
    pub(crate) query: Option<&'a RawValue>,
    pub(crate) response: Option<&'a RawValue>,
    pub(crate) text: Scalar<'a>,
    pub(crate) part: Option<&'a RawValue>,
    pub(crate) data: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    /// Reads a line into fields that are still empty, in place: there are too many of them to pass on by value.
    pub(crate) fn read(&mut self, json: &'a str) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_str(json);
        Fill(self).deserialize(&mut json)?;
        json.end()
    }
}

impl<'de: 'a, 'a> Entries<'de> for Line<'a> {
    fn entry<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "type" => self.kind = map.next_value()?,
            "subtype" => self.subtype = map.next_value()?,
            "session_id" => self.session_id = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "timestamp_ms" => self.timestamp_ms = map.next_value()?,
            "model_call_id" => self.model_call_id = map.next_value()?,
            "call_id" => self.call_id = map.next_value()?,
            "tool_call" => self.tool_call = map.next_value()?,
            "model" => self.model = map.next_value()?,
            "is_error" => self.is_error = map.next_value()?,
            "result" => self.result = map.next_value()?,
            "error" => self.error = map.next_value()?,
            "usage" => self.usage = map.next_value()?,
            "query" => self.query = map.next_value()?,
            "response" => self.response = map.next_value()?,
            "text" => self.text = map.next_value()?,
            "part" => self.part = map.next_value()?,
            "data" => self.data = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
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
        while let Some(Key(key)) = map.next_key()? {
            if key == "content" {
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

    fn read(json: &str) -> Line<'_> {
        let mut line = Line::default();
        line.read(json).unwrap();
        line
    }

    fn text(json: &str) -> String {
        read(json).message.0.into_owned()
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
    fn of_a_repeated_key_the_last_counts() {
        let line = read(r#"{"type":"user","call_id":"a","type":"assistant","call_\u0069d":"b"}"#);
        assert_eq!(line.kind.as_str(), Some("assistant"));
        assert_eq!(line.call_id.as_str(), Some("b"));
    }

    #[test]
    fn what_is_no_object_or_not_alone_on_its_line_is_malformed() {
        for json in ["[]", r#"["assistant"]"#, "7", "null", "{} {}", r#"{"type":"#] {
            assert!(Line::default().read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn null_in_the_place_of_a_time_is_no_time() {
        let line = read(r#"{"timestamp_ms":null,"model_call_id":{"a":[1]}}"#);
        assert!(line.timestamp_ms.is_none());
        assert!(line.model_call_id.is_some());
    }

    #[test]
    fn unexpected_types_never_make_a_line_malformed() {
        let json =
            r#"{"type":["x"],"subtype":{},"timestamp_ms":"1","tool_call":[1],"usage":3,"result":{"a":1}}"#;
        let line = read(json);
        assert!(line.timestamp_ms.is_some());
        assert!(line.result.as_str().is_none());
    }
}
