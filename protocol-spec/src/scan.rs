//! Searches and validates the bytes of a line: short lines with plain code, long lines with SIMD.
//!
//! Detecting the SIMD features of the processor takes ten instructions, once per process, that a virtual machine
//! emulates; they took 6 to 7 µs each where it was measured. An agent's call writes one line and reads one, so it ends
//! sooner without them.

/// The longest line that plain code handles, in bytes.
const PLAIN_BYTES_MAX: usize = 1024;

/// Returns where the first newline is.
pub(crate) fn newline(bytes: &[u8]) -> Option<usize> {
    if bytes.len() <= PLAIN_BYTES_MAX {
        bytes.iter().position(|byte| *byte == b'\n')
    } else {
        memchr::memchr(b'\n', bytes)
    }
}

/// Returns the bytes as text, unless they are not UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    if bytes.len() <= PLAIN_BYTES_MAX {
        std::str::from_utf8(bytes).ok()
    } else {
        simdutf8::basic::from_utf8(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_looked_through_alike_whatever_its_length() {
        for length in [0, 1, PLAIN_BYTES_MAX - 1, PLAIN_BYTES_MAX, PLAIN_BYTES_MAX + 1] {
            let mut bytes = vec![b'a'; length];
            assert_eq!(newline(&bytes), None, "{length}");
            assert_eq!(utf8(&bytes).map(str::len), Some(length));
            bytes.extend_from_slice("\n数\n".as_bytes());
            assert_eq!(newline(&bytes), Some(length), "{length}");
            assert_eq!(utf8(&bytes).map(str::len), Some(length + 5));
            bytes.push(0xff);
            assert_eq!(utf8(&bytes), None, "{length}");
        }
    }
}
