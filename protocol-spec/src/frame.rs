//! Lines on the wire: one JSON object each, ended by a newline, never longer than [`FRAME_BYTES_MAX`].

use std::io;

use serde::Serialize;
use thiserror::Error;

use crate::scan;

/// The longest line that is read or written, in bytes, its newline included.
///
/// It holds the longest prompt even when JSON has to escape every other byte of it. A prompt that is mostly control
/// characters may not fit; its sender gets an error.
pub const FRAME_BYTES_MAX: usize = 72 * 1024 * 1024;

/// The reason why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The peer sent a line without end.
    #[error("a line is longer than {FRAME_BYTES_MAX} bytes")]
    TooLong,
    /// A message that would not fit into one line.
    #[error("a message of {0} bytes does not fit into a line of {FRAME_BYTES_MAX} bytes")]
    TooLarge(usize),
    /// Serialisation failed.
    #[error("could not encode a message: {0}")]
    Encode(String),
}

/// Encodes a message as one line, newline included.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut line = serde_json::to_vec(message).map_err(|error| FrameError::Encode(error.to_string()))?;
    line.push(b'\n');
    if line.len() > FRAME_BYTES_MAX {
        return Err(FrameError::TooLarge(line.len()));
    }
    Ok(line)
}

/// Returns how many bytes a message takes in a line, without keeping them.
pub(crate) fn encoded_len<T: Serialize + ?Sized>(message: &T) -> usize {
    let mut count = Count(0);
    // Counting cannot fail; what cannot be encoded at all fits nowhere.
    serde_json::to_writer(&mut count, message).map_or(usize::MAX, |()| count.0)
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Splits a stream of bytes into lines, independent of how the stream is chunked.
///
/// Memory is given back when a large line has been consumed, because thousands of idle connections each own one of
/// these.
#[derive(Debug, Default)]
pub struct Splitter {
    pending: Vec<u8>,
    /// Bytes of `pending` that belong to lines already taken.
    taken: usize,
    /// Bytes of `pending` known to hold no newline.
    scanned: usize,
}

impl Splitter {
    /// Buffers larger than this are released once they are empty, in bytes.
    const KEPT_BYTES_MAX: usize = 256;

    /// Adds bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.pending.drain(..self.taken);
            self.scanned -= self.taken;
            self.taken = 0;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// Returns the next whole line without its newline, or `None` until more bytes arrive.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let unseen = &self.pending[self.scanned..];
        let Some(length) = scan::newline(unseen) else {
            self.scanned = self.pending.len();
            if self.scanned - self.taken >= FRAME_BYTES_MAX {
                return Err(FrameError::TooLong);
            }
            self.release();
            return Ok(None);
        };
        let start = self.taken;
        let end = self.scanned + length;
        self.taken = end + 1;
        self.scanned = end + 1;
        if end + 1 - start > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong);
        }
        let line = &self.pending[start..end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Returns how many bytes it holds.
    pub fn held(&self) -> usize {
        self.pending.len()
    }

    /// Says whether the beginning of a line is waiting for its end.
    pub fn has_partial_line(&self) -> bool {
        self.taken < self.pending.len()
    }

    /// Says whether another whole line is there.
    pub fn has_line(&self) -> bool {
        scan::newline(&self.pending[self.scanned..]).is_some()
    }

    fn release(&mut self) {
        if self.taken == self.pending.len() {
            self.taken = 0;
            self.scanned = 0;
            self.pending.clear();
            if self.pending.capacity() > Self::KEPT_BYTES_MAX {
                self.pending = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut splitter = Splitter::default();
        let mut lines = Vec::new();
        for piece in pieces {
            splitter.push(piece);
            while let Some(line) = splitter.next_line().unwrap() {
                lines.push(line.to_vec());
            }
        }
        lines
    }

    #[test]
    fn lines_are_found_across_pieces() {
        assert_eq!(lines(&[b"a\nb", b"c\r\n\nd"]), [&b"a"[..], b"bc", b""]);
    }

    #[test]
    fn a_line_without_end_is_refused_at_the_limit() {
        let mut splitter = Splitter::default();
        let piece = vec![b'x'; 1 << 20];
        let mut result = Ok(());
        for _ in 0..=(FRAME_BYTES_MAX >> 20) {
            splitter.push(&piece);
            result = splitter.next_line().map(|line| assert_eq!(line, None));
            if result.is_err() {
                break;
            }
        }
        assert_eq!(result, Err(FrameError::TooLong));
    }

    #[test]
    fn the_memory_of_a_large_line_is_given_back() {
        let mut splitter = Splitter::default();
        splitter.push(&vec![b'x'; 1 << 20]);
        splitter.push(b"\n");
        assert!(splitter.next_line().unwrap().is_some());
        assert!(splitter.next_line().unwrap().is_none());
        assert_eq!(splitter.pending.capacity(), 0);
    }

    proptest! {
        #[test]
        fn the_cut_into_pieces_does_not_matter(bytes in proptest::collection::vec(any::<u8>(), 0..400), cuts in proptest::collection::vec(1usize..40, 0..40)) {
            let whole = lines(&[&bytes]);
            let mut pieces = Vec::new();
            let mut rest = &bytes[..];
            for cut in cuts {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = tail;
            }
            pieces.push(rest);
            prop_assert_eq!(whole, lines(&pieces));
        }
    }
}
