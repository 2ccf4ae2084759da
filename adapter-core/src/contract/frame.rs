//! Cuts a byte stream into frames: one JSON object per line, or a block between sentinel lines.
//!
//! Cutting happens on bytes, so that a character split over two reads is never seen half. A frame that lies
//! inside one chunk is lent from it; only what crosses a chunk is copied, and never more than
//! [`LINE_BYTES_MAX`].

use memchr::memchr;
use thiserror::Error;

/// The longest line, or sentinel block, that is accepted.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

const BLOCK_START: &[u8] = b"__JSON_START__";
const BLOCK_END: &[u8] = b"__JSON_END__";
const BOM: &[u8] = b"\xEF\xBB\xBF";
/// Some wrappers write the stream's name in front of each line.
const STDOUT_PREFIX: &[u8] = b"stdout:";

/// One frame, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Claims to be JSON: it starts with a brace, or it stood between sentinels.
    Json(&'a [u8]),
    /// Plain words, such as an update notice.
    Text(&'a [u8]),
}

/// Why a stream cannot be cut any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A line, or a block, grew above the cap.
    #[error("a line is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// The stream ended inside a sentinel block.
    #[error("the stream ended between __JSON_START__ and __JSON_END__")]
    UnclosedBlock,
}

/// Cuts bytes into frames as they arrive.
#[derive(Debug, Default)]
pub struct Framer {
    /// The beginning of a line whose end has not arrived.
    carry: Vec<u8>,
    /// The lines of an open sentinel block.
    block: Option<Vec<u8>>,
    past_start: bool,
}

impl Framer {
    /// Builds a framer at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts the next bytes and hands every finished frame to `sink`, in order.
    ///
    /// Stops at the first error, of the framing or of the sink.
    pub fn feed<E, F>(&mut self, mut chunk: &[u8], mut sink: F) -> Result<(), E>
    where
        E: From<FrameError>,
        F: FnMut(Frame<'_>) -> Result<(), E>,
    {
        while let Some(end) = memchr(b'\n', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.carry.is_empty() {
                check_length(head.len())?;
                self.line(head, &mut sink)?;
            } else {
                self.extend_carry(head)?;
                let line = std::mem::take(&mut self.carry);
                self.line(&line, &mut sink)?;
                self.reuse(line);
            }
        }
        Ok(self.extend_carry(chunk)?)
    }

    /// Ends the stream and returns what followed the last line end, if anything.
    pub fn finish(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let start = self.bom_length();
        if let Some(block) = &mut self.block {
            // The closing sentinel may be the unterminated last line.
            if trim(&self.carry) != BLOCK_END {
                return Err(FrameError::UnclosedBlock);
            }
            std::mem::swap(block, &mut self.carry);
            self.block = None;
            return Ok(Some(Frame::Json(trim(&self.carry))));
        }
        Ok(classify(trim(&self.carry[start..])))
    }

    /// Returns how many bytes are waiting for the end of their line.
    pub fn pending(&self) -> usize {
        self.carry.len() + self.block.as_ref().map_or(0, Vec::len)
    }

    fn line<E, F>(&mut self, line: &[u8], sink: &mut F) -> Result<(), E>
    where
        E: From<FrameError>,
        F: FnMut(Frame<'_>) -> Result<(), E>,
    {
        let line = if self.past_start {
            line
        } else {
            line.strip_prefix(BOM).unwrap_or(line)
        };
        self.past_start = true;
        let line = trim(line);
        if self.block.is_some() {
            return self.block_line(line, sink);
        }
        if let Some(rest) = line.strip_prefix(BLOCK_START) {
            self.block = Some(Vec::new());
            return if rest.is_empty() {
                Ok(())
            } else {
                self.block_line(trim(rest), sink)
            };
        }
        classify(line).map_or(Ok(()), sink)
    }

    fn block_line<E, F>(&mut self, line: &[u8], sink: &mut F) -> Result<(), E>
    where
        E: From<FrameError>,
        F: FnMut(Frame<'_>) -> Result<(), E>,
    {
        let Some(mut block) = self.block.take() else {
            return Ok(());
        };
        let body = line.strip_suffix(BLOCK_END);
        let part = body.map_or(line, trim);
        check_length(block.len() + part.len() + 1)?;
        if !block.is_empty() && !part.is_empty() {
            block.push(b'\n');
        }
        block.extend_from_slice(part);
        if body.is_some() {
            return sink(Frame::Json(&block));
        }
        self.block = Some(block);
        Ok(())
    }

    fn extend_carry(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        check_length(self.carry.len() + bytes.len())?;
        self.carry.extend_from_slice(bytes);
        Ok(())
    }

    /// Keeps the allocation of an ordinary line and gives back that of a huge one.
    fn reuse(&mut self, mut line: Vec<u8>) {
        const KEEP_BYTES_MAX: usize = 1024 * 1024;
        if line.capacity() <= KEEP_BYTES_MAX {
            line.clear();
            self.carry = line;
        }
    }

    /// Returns how many bytes of the carried line are a byte order mark.
    fn bom_length(&self) -> usize {
        if !self.past_start && self.carry.starts_with(BOM) {
            BOM.len()
        } else {
            0
        }
    }
}

fn check_length(length: usize) -> Result<(), FrameError> {
    if length > LINE_BYTES_MAX {
        Err(FrameError::TooLong)
    } else {
        Ok(())
    }
}

fn classify(line: &[u8]) -> Option<Frame<'_>> {
    match line.first()? {
        b'{' => Some(Frame::Json(line)),
        b's' => match line.strip_prefix(STDOUT_PREFIX).map(trim) {
            Some(rest) if rest.first() == Some(&b'{') => Some(Frame::Json(rest)),
            _ => Some(Frame::Text(line)),
        },
        _ => Some(Frame::Text(line)),
    }
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    enum Got {
        Json(Vec<u8>),
        Text(Vec<u8>),
    }

    fn own(frame: Frame<'_>) -> Got {
        match frame {
            Frame::Json(bytes) => Got::Json(bytes.to_vec()),
            Frame::Text(bytes) => Got::Text(bytes.to_vec()),
        }
    }

    fn cut(input: &[u8], step: usize) -> Result<Vec<Got>, FrameError> {
        let mut framer = Framer::new();
        let mut frames = Vec::new();
        for chunk in input.chunks(step.max(1)) {
            framer.feed(chunk, |frame| {
                frames.push(own(frame));
                Ok::<_, FrameError>(())
            })?;
        }
        frames.extend(framer.finish()?.map(own));
        Ok(frames)
    }

    fn json(text: &str) -> Got {
        Got::Json(text.as_bytes().to_vec())
    }

    fn text(text: &str) -> Got {
        Got::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn any_split_of_the_input_gives_the_same_frames() {
        let input =
            "\u{feff}{\"a\":\"é\"}\r\n\r\nupdate available\n__JSON_START__\n{\"b\":\n1}\n__JSON_END__\n\
                     stdout: {\"c\":2}\n__JSON_START__{\"d\":3}__JSON_END__\n{\"last\":true}"
                .as_bytes();
        let expected = vec![
            json("{\"a\":\"é\"}"),
            text("update available"),
            json("{\"b\":\n1}"),
            json("{\"c\":2}"),
            json("{\"d\":3}"),
            json("{\"last\":true}"),
        ];
        for step in 1..=input.len() {
            assert_eq!(cut(input, step).unwrap(), expected, "step {step}");
        }
    }

    #[test]
    fn a_block_may_be_closed_by_an_unterminated_last_line() {
        assert_eq!(
            cut(b"__JSON_START__\n{\"a\":1}\n__JSON_END__", 3).unwrap(),
            vec![json("{\"a\":1}")]
        );
    }

    #[test]
    fn a_block_that_never_ends_is_an_error() {
        assert_eq!(
            cut(b"__JSON_START__\n{\"a\":1}\n", 64),
            Err(FrameError::UnclosedBlock)
        );
    }

    #[test]
    fn a_lone_line_with_a_mark_at_its_start_and_no_line_end_is_still_read() {
        assert_eq!(cut("\u{feff}{}".as_bytes(), 1).unwrap(), vec![json("{}")]);
    }

    #[test]
    fn a_line_over_the_cap_is_an_error_and_nothing_above_the_cap_is_kept() {
        let mut framer = Framer::new();
        let chunk = vec![b'x'; 1024 * 1024];
        let mut result = Ok(());
        for _ in 0..=LINE_BYTES_MAX / chunk.len() {
            result = framer.feed(&chunk, |_| Ok::<_, FrameError>(()));
            assert!(framer.pending() <= LINE_BYTES_MAX);
        }
        assert_eq!(result, Err(FrameError::TooLong));
    }

    #[test]
    fn a_line_at_the_cap_is_accepted() {
        let mut line = vec![b'x'; LINE_BYTES_MAX];
        line.push(b'\n');
        assert_eq!(cut(&line, 65_536).unwrap().len(), 1);
    }
}
