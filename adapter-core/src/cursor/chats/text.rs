//! Text that shares the memory it was read into.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use serde::{Serialize, Serializer};

/// A text of a chat. Most of a long chat is text, and copying each piece of it would cost as much as reading
/// it, so texts are views of the blobs they stand in.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// Always UTF-8: checked when the text is made.
    bytes: Bytes,
}

impl Text {
    /// Takes the text at `part`, a slice of `blob`. Invalid UTF-8 is replaced, since a tool's output may be cut in the
    /// middle of a character.
    pub(super) fn within(blob: &Bytes, part: &[u8]) -> Self {
        match simdutf8::basic::from_utf8(part) {
            Ok(_) => Text {
                bytes: blob.slice_ref(part),
            },
            Err(_) => Text::from(String::from_utf8_lossy(part).into_owned()),
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        // The check is repeated rather than skipped, which would be unsafe; it runs at the speed of memory.
        simdutf8::basic::from_utf8(&self.bytes).unwrap_or_default()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text {
            bytes: Bytes::from(text),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(text.to_owned())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.bytes == *other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_view_of_its_blob_unless_it_has_to_be_repaired() {
        let blob = Bytes::from_static("..häl".as_bytes());
        let view = Text::within(&blob, &blob[2..]);
        assert_eq!(view, "häl");
        assert_eq!(view.as_ptr(), blob[2..].as_ptr());
        assert_eq!(Text::within(&blob, &blob[2..4]), "h\u{fffd}");
    }
}
