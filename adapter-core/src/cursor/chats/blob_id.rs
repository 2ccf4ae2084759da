//! The names of blobs.

use std::fmt;

use super::meta::digit;
use super::schema::hex;

const BLOB_ID_BYTES: usize = 32;

/// The name of a blob: the SHA-256 of its content, shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobId([u8; BLOB_ID_BYTES]);

impl BlobId {
    /// Reads an id as it stands inside a message.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(BlobId)
    }

    /// Reads an id as it stands in a column.
    pub(super) fn from_hex(text: &[u8]) -> Option<Self> {
        if text.len() != BLOB_ID_BYTES * 2 {
            return None;
        }
        let mut id = [0; BLOB_ID_BYTES];
        for (byte, &[high, low]) in id.iter_mut().zip(text.as_chunks().0) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(BlobId(id))
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_both_of_their_forms() {
        let bytes = [0xab; 32];
        let id = BlobId::from_bytes(&bytes).unwrap();
        assert_eq!(BlobId::from_hex("Ab".repeat(32).as_bytes()), Some(id));
        assert_eq!(id.to_string(), "ab".repeat(32));
        assert_eq!(BlobId::from_bytes(&bytes[1..]), None);
        assert_eq!(BlobId::from_hex(b"abc"), None);
        assert_eq!(BlobId::from_hex("ab".repeat(33).as_bytes()), None);
    }
}
