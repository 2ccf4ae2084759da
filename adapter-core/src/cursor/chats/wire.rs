//! Reads the protobuf wire format, field by field, borrowing from the input.
//!
//! Written by hand rather than generated: the store's schema is not published as a `.proto` file and changes
//! with each Cursor release, so the reader must walk messages it has only a partial description of and keep
//! what it does not know. It allocates nothing, never reads past its slice and never recurses; depth is the
//! caller's to bound.

use thiserror::Error;

/// The largest field number protobuf allows.
const FIELD_NUMBER_MAX: u64 = (1 << 29) - 1;
/// A 64-bit varint never needs more bytes than this.
const VARINT_BYTES_MAX: usize = 10;

/// One field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// The field number, at least 1.
    pub(super) number: u32,
    /// The value as it stands on the wire.
    pub(super) value: Wire<'a>,
}

/// A value in one of the wire formats still in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    /// Integers, booleans and enumerations.
    Varint(u64),
    /// Eight little-endian bytes, for example a double.
    Fixed64(u64),
    /// Four little-endian bytes, for example a float.
    Fixed32(u32),
    /// Strings, bytes, packed lists and nested messages.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    /// Returns the bytes of a length-delimited value.
    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Wire::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the integer of a varint value.
    pub(super) fn varint(self) -> Option<u64> {
        match self {
            Wire::Varint(value) => Some(value),
            _ => None,
        }
    }
}

/// Why a message could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum WireError {
    /// The input ended inside a field.
    #[error("message ends in the middle of a field")]
    Truncated,
    /// A varint has more bytes than 64 bits need.
    #[error("integer is longer than 64 bits")]
    VarintTooLong,
    /// The key names a field number outside protobuf's range.
    #[error("field number {0} is out of range")]
    FieldNumber(u64),
    /// The key names a wire type that is unassigned or was retired (groups).
    #[error("wire type {0} is not in use")]
    WireType(u8),
}

/// Walks the fields of one message and stops for good at its first error.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Starts at the first field of `message`.
    pub(super) fn new(message: &'a [u8]) -> Self {
        Fields { rest: message }
    }

    fn next_field(&mut self) -> Result<Field<'a>, WireError> {
        let key = self.next_varint()?;
        let number = key >> 3;
        if number == 0 || number > FIELD_NUMBER_MAX {
            return Err(WireError::FieldNumber(number));
        }
        let value = match key & 7 {
            0 => Wire::Varint(self.next_varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.next_array()?)),
            2 => {
                let length = usize::try_from(self.next_varint()?).map_err(|_| WireError::Truncated)?;
                Wire::Bytes(self.next_slice(length)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.next_array()?)),
            other => return Err(WireError::WireType(other as u8)),
        };
        Ok(Field {
            number: number as u32,
            value,
        })
    }

    fn next_varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0u64;
        for (index, &byte) in self.rest.iter().take(VARINT_BYTES_MAX).enumerate() {
            let bits = u64::from(byte & 0x7f);
            // The tenth byte carries the last single bit of 64.
            if index == VARINT_BYTES_MAX - 1 && bits > 1 {
                return Err(WireError::VarintTooLong);
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() >= VARINT_BYTES_MAX {
            WireError::VarintTooLong
        } else {
            WireError::Truncated
        })
    }

    fn next_slice(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn next_array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.next_field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Tells whether `message` can be read to its end.
pub(super) fn is_well_formed(message: &[u8]) -> bool {
    Fields::new(message).all(|field| field.is_ok())
}

/// Returns the last length-delimited value of a field, which is the one protobuf says counts.
pub(super) fn last_bytes(message: &[u8], number: u32) -> Result<Option<&[u8]>, WireError> {
    let mut found = None;
    for field in Fields::new(message) {
        let field = field?;
        if field.number == number {
            found = field.value.bytes().or(found);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &[u8]) -> Result<Vec<Field<'_>>, WireError> {
        Fields::new(message).collect()
    }

    #[test]
    fn every_wire_type_in_use_is_read() {
        let message = [
            0x08, 0x96, 0x01, // 1: varint 150
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x1d, 1, 0, 0, 0, // 3: fixed32 1
            0x21, 2, 0, 0, 0, 0, 0, 0, 0, // 4: fixed64 2
        ];
        let fields = read(&message).unwrap();
        let values: Vec<_> = fields.iter().map(|field| (field.number, field.value)).collect();
        assert_eq!(
            values,
            [
                (1, Wire::Varint(150)),
                (2, Wire::Bytes(b"hi")),
                (3, Wire::Fixed32(1)),
                (4, Wire::Fixed64(2))
            ]
        );
    }

    #[test]
    fn broken_messages_are_errors_and_end_the_walk() {
        let cases: [(&[u8], WireError); 7] = [
            (&[0x08], WireError::Truncated),
            (&[0x12, 0x05, b'a'], WireError::Truncated),
            (&[0x1d, 1, 2], WireError::Truncated),
            (&[0x00], WireError::FieldNumber(0)),
            (&[0x0b], WireError::WireType(3)),
            (&[0x0f], WireError::WireType(7)),
            (
                &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
                WireError::VarintTooLong,
            ),
        ];
        for (message, expected) in cases {
            let mut fields = Fields::new(message);
            assert_eq!(fields.next(), Some(Err(expected)), "{message:x?}");
            assert_eq!(fields.next(), None);
        }
    }

    #[test]
    fn a_length_near_the_top_of_64_bits_is_truncation_and_not_a_panic() {
        let message = [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(read(&message), Err(WireError::Truncated));
    }

    #[test]
    fn the_last_value_of_a_repeated_scalar_wins() {
        assert_eq!(
            last_bytes(&[0x0a, 1, b'a', 0x0a, 1, b'b'], 1),
            Ok(Some(&b"b"[..]))
        );
        assert_eq!(last_bytes(&[0x0a, 1, b'a'], 2), Ok(None));
    }
}
