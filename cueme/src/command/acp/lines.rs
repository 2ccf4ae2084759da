//! Moves lines from one pipe to another, and lets somebody read each of them first.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The longest line that is read; a longer one passes through unread, so that it costs no memory.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The size of the read buffer, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// The writing end of a pipe, for whole lines of several threads.
#[derive(Debug)]
pub(super) struct LineWriter<W>(Mutex<Option<W>>);

impl<W: Write> LineWriter<W> {
    pub(super) fn new(writer: W) -> Self {
        Self(Mutex::new(Some(writer)))
    }

    /// Writes a line with its end.
    pub(super) fn write(&self, line: &[u8]) -> io::Result<()> {
        write_to(&mut self.lock(), line)
    }

    /// Closes the pipe.
    pub(super) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_to<W: Write>(writer: &mut Option<W>, bytes: &[u8]) -> io::Result<()> {
    let writer = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
    writer.write_all(bytes)?;
    writer.flush()
}

/// Gives each line to `read` until the pipe ends; `read` writes what is to be written.
///
/// A line that is too long is written to `to` as it comes, and `read` is told its beginning only by `skipped`.
pub(super) fn each_line<R: Read, W: Write>(
    from: R,
    to: &LineWriter<W>,
    mut read: impl FnMut(&[u8]) -> io::Result<()>,
    mut skipped: impl FnMut(),
) -> io::Result<()> {
    let mut from = BufReader::with_capacity(READ_BYTES, from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let count = from.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(());
        }
        if line.ends_with(b"\n") || line.len() < LINE_BYTES_MAX {
            read(&line)?;
            continue;
        }
        skipped();
        // Nothing else may be written in the middle of it.
        let mut writer = to.lock();
        write_to(&mut writer, &line)?;
        line = Vec::new();
        pass_rest(&mut from, &mut writer)?;
    }
}

/// Writes what is left of a line.
fn pass_rest<W: Write>(from: &mut impl BufRead, to: &mut Option<W>) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        let (count, is_end) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        write_to(to, &bytes[..count])?;
        from.consume(count);
        if is_end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes everything through; returns what was written, and how many lines were read.
    fn passed(bytes: &[u8]) -> (Vec<u8>, usize, usize) {
        let to = LineWriter::new(Vec::new());
        let (mut read, mut skipped) = (0, 0);
        let each = |line: &[u8]| {
            read += 1;
            to.write(line)
        };
        each_line(bytes, &to, each, || skipped += 1).unwrap();
        let written = to.lock().take().unwrap();
        (written, read, skipped)
    }

    #[test]
    fn every_byte_passes_also_without_a_last_line_end() {
        let bytes = b"{\"a\":1}\n\n\xff\xfe not JSON\r\n{\"torn\":";
        assert_eq!(passed(bytes), (bytes.to_vec(), 4, 0));
    }

    #[test]
    fn a_line_longer_than_the_limit_passes_unread_and_the_next_is_read() {
        let mut bytes = vec![b'x'; LINE_BYTES_MAX + 100_000];
        bytes.extend_from_slice(b"\n{}\n");
        let (written, read, skipped) = passed(&bytes);
        assert!(written == bytes);
        assert_eq!((read, skipped), (1, 1));
    }
}
