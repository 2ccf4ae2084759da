//! Texts for PostgreSQL, which refuses the character NUL; agents and humans may write it.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::types::{FromSql, Type};

/// The first character of an escape. It is a character that people do not write, and is escaped itself, too.
const ESCAPE: char = '\u{10FFFF}';
/// Follows it in place of a NUL.
const NUL: char = '0';
/// Follows it in place of itself.
const ITSELF: char = '1';

/// Encodes a text so that PostgreSQL accepts it.
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\0' => encoded.extend([ESCAPE, NUL]),
            ESCAPE => encoded.extend([ESCAPE, ITSELF]),
            other => encoded.push(other),
        }
    }
    Cow::Owned(encoded)
}

/// Decodes a text; an escape that was truncated at the end is left out.
pub(crate) fn decode(stored: &str) -> Cow<'_, str> {
    if !stored.contains(ESCAPE) {
        return Cow::Borrowed(stored);
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => match characters.next() {
                Some(NUL) => text.push('\0'),
                Some(ITSELF) => text.push(ESCAPE),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

/// A text that is read from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

impl<'a> FromSql<'a> for Text {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let stored = <&str>::from_sql(of, raw)?;
        Ok(Self(decode(stored).into_owned()))
    }

    fn accepts(of: &Type) -> bool {
        <&str as FromSql>::accepts(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "",
            "plain",
            "a\0b",
            "\0",
            "\u{10FFFF}",
            "\u{10FFFF}0\0\u{10FFFF}1",
            "日本\0",
        ] {
            let encoded = encode(text);
            assert!(!encoded.contains('\0'), "{text:?}");
            assert_eq!(decode(&encoded), text);
        }
        assert!(matches!(encode("plain"), Cow::Borrowed(_)));
        assert_eq!(decode("cut\u{10FFFF}"), "cut");
    }
}
