//! Bytes to text: UTF-8, or UTF-16 that says so with a byte order mark.
//!
//! Nothing is guessed. Text that is valid UTF-8 is UTF-8, however unlikely it looks, and text that is
//! neither is refused rather than mangled.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::EnvelopeError;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16_BE_BOM: &[u8] = b"\xFE\xFF";

/// Decodes the bytes of stdin.
///
/// UTF-8 is borrowed, without its byte order mark if it has one. UTF-16 is decoded when a byte order mark
/// announces it, as PowerShell pipes it.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, EnvelopeError> {
    if let Some(rest) = bytes.strip_prefix(UTF16_LE_BOM) {
        return utf16(rest, u16::from_le_bytes).map(Cow::Owned);
    }
    if let Some(rest) = bytes.strip_prefix(UTF16_BE_BOM) {
        return utf16(rest, u16::from_be_bytes).map(Cow::Owned);
    }
    match simdutf8::basic::from_utf8(bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes)) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => Err(not_utf8(bytes)),
    }
}

/// Decodes UTF-16 code units that follow a byte order mark.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, EnvelopeError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    // The mark itself takes two bytes, so the first unit is at offset two.
    let mut offset = UTF16_LE_BOM.len();
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match decoded {
            Ok(c) => {
                text.push(c);
                offset += 2 * c.len_utf16();
            }
            Err(_) => {
                return Err(EnvelopeError::BrokenUtf16 {
                    line: line_after(text.as_bytes()),
                    offset,
                });
            }
        }
    }
    if odd.is_empty() {
        Ok(text)
    } else {
        Err(EnvelopeError::BrokenUtf16 {
            line: line_after(text.as_bytes()),
            offset,
        })
    }
}

/// Finds the first byte that is not UTF-8; only the failing path pays for the exact position.
fn not_utf8(bytes: &[u8]) -> EnvelopeError {
    let offset = match simdutf8::compat::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    let byte = bytes.get(offset).copied().unwrap_or_default();
    EnvelopeError::NotUtf8 {
        line: line_after(&bytes[..offset]),
        offset,
        byte,
    }
}

/// Returns the number of the line that begins or goes on after `before`.
fn line_after(before: &[u8]) -> usize {
    memchr_iter(b'\n', before).count() + 1
}
