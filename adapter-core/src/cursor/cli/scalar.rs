//! Reads any JSON value without ever failing on its type.
//!
//! The CLI changes its types between versions (64-bit numbers arrive as strings), and a field this adapter only
//! reports must never make a healthy turn malformed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A JSON value as far as this adapter cares.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// The field is absent.
    #[default]
    Absent,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array or an object, skipped.
    Compound,
}

impl<'a> Scalar<'a> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, also when it was written as a string.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Float(number) if number.fract() == 0.0 => Some(*number as i64),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        self.as_i64().and_then(|number| u64::try_from(number).ok())
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.as_bool() == Some(true)
    }

    /// Returns the text when it says something.
    pub(crate) fn non_empty(&self) -> Option<&str> {
        self.as_str().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Scalar::Float(number as f64), Scalar::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Compound)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Compound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Scalar<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn numbers_are_understood_in_both_spellings() {
        assert_eq!(read("1790994290546").as_i64(), Some(1_790_994_290_546));
        assert_eq!(read("\"1790994290546\"").as_i64(), Some(1_790_994_290_546));
        assert_eq!(read("2.0").as_u64(), Some(2));
        assert_eq!(read("-1").as_u64(), None);
    }

    #[test]
    fn no_type_is_a_failure() {
        for json in [
            "null",
            "true",
            "[1,[2]]",
            r#"{"a":{"b":1}}"#,
            r#""\n""#,
            "18446744073709551615",
        ] {
            read(json);
        }
        assert_eq!(read("null"), Scalar::Null);
        assert_eq!(read("[]"), Scalar::Compound);
    }

    #[test]
    fn a_string_without_escapes_is_borrowed() {
        assert!(matches!(read(r#""plain""#), Scalar::Text(Cow::Borrowed("plain"))));
        assert!(matches!(read(r#""a\n""#), Scalar::Text(Cow::Owned(_))));
    }
}
