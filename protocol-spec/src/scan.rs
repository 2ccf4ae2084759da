//! Looking through the bytes of a line: plainly where they are few, with all the processor offers where they are many.
//!
//! What it offers has to be asked first, once per process, with ten instructions that a virtual machine answers itself: they
//! took 6 to 7 µs each where it was measured. An agent's call, which writes one line and reads one, is over sooner without.

/// The longest line that is looked through plainly, in bytes.
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
