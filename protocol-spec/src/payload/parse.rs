//! A payload: the JSON as written, and its meaning.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{self, Value};
use super::normalise::{compact, normalise};
use super::shape::read_shape;
use super::{PAYLOAD_BYTES_MAX, PayloadError, Shape};

/// A valid payload, as written and as understood.
///
/// It travels as the JSON that was written, so that numbers, key order and unknown keys arrive unchanged.
/// Two payloads are equal when they differ in white space between tokens only.
///
/// Reading one through serde needs `serde_json` itself, at a place where it can hand out raw text: not inside an
/// internally tagged or flattened type.
///
/// ```
/// use protocol_spec::payload::{Payload, Shape};
///
/// let payload = Payload::parse(r#"{"type":"choice","options":["Continue","Stop"],"x":1.0}"#)?;
/// assert!(matches!(payload.shape(), Shape::Choice(choice) if choice.options.len() == 2));
/// assert_eq!(
///     payload.normalised(),
///     r#"{"type":"choice","options":["Continue","Stop"],"x":1.0,"allow_multiple":false}"#,
/// );
/// # Ok::<(), protocol_spec::payload::PayloadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Payload {
    written: Box<str>,
    shape: Shape,
}

impl Payload {
    /// Parses a JSON object and checks all of it.
    pub fn parse(json: &str) -> Result<Self, PayloadError> {
        let written = json.trim();
        let bytes = written.len();
        if bytes > PAYLOAD_BYTES_MAX {
            return Err(PayloadError::TooLarge {
                bytes,
                max: PAYLOAD_BYTES_MAX,
            });
        }
        let root = json::parse(written)?;
        let Value::Object(members) = &root.value else {
            return Err(PayloadError::NotAnObject {
                found: root.type_name(),
            });
        };
        Ok(Self {
            shape: read_shape(members)?,
            written: written.into(),
        })
    }

    /// Returns the JSON exactly as it was written, without the white space around it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns its shape, with every default filled.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the JSON on one line, with the defaults that were not written added at the end.
    ///
    /// Keys stay in the order written, and strings and numbers stay spelled as they were.
    pub fn normalised(&self) -> String {
        normalise(&self.written)
    }

    /// Returns the JSON as written, with a space for every line break between its tokens.
    ///
    /// Messages travel one a line. JSON strings cannot hold a raw line break, so no content is touched.
    pub fn one_line(&self) -> Cow<'_, str> {
        if self.written.contains(['\n', '\r']) {
            Cow::Owned(self.written.replace(['\n', '\r'], " "))
        } else {
            Cow::Borrowed(&self.written)
        }
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        compact(&self.written) == compact(&other.written)
    }
}

impl Eq for Payload {}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.one_line().into_owned()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}
