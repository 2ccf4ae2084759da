//! Normalises a recorded stream.

use std::io::{self, Read, Write};

use serde::Serialize;

use super::normalise::{Normaliser, NormaliserOptions};
use crate::contract::{Ending, Event, Exit, Item, Sink};

/// The JSON before and after the text of an [`Event::AssistantDelta`].
const DELTA_HEAD: &[u8] = br#"{"type":"assistant_delta","data":{"content":"#;
const DELTA_TAIL: &[u8] = b"}}";
/// The size of the read buffer, in bytes.
const READ_BYTES: usize = 256 * 1024;
/// The size of the write buffer for events, in bytes.
const WRITE_BYTES: usize = 64 * 1024;

/// The facts about a recording that its bytes do not hold.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The options of the normaliser.
    pub normaliser: NormaliserOptions,
    /// The exit code of the recorded process; absent means that it went well.
    pub exit: Option<i32>,
    /// The stderr of the recorded process.
    pub stderr: String,
}

/// Reads a recorded stream and writes its contract events, one JSON object a line.
///
/// Memory does not depend on the length of the stream. Ready events are written before the next read blocks, so a live
/// stream can be piped through.
pub fn replay(mut input: impl Read, output: impl Write, options: ReplayOptions) -> io::Result<Ending> {
    let mut normaliser = Normaliser::new(options.normaliser);
    let mut writer = EventWriter::new(output);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let ended = normaliser.feed(&buffer[..count], &mut writer);
        writer.flush()?;
        if ended {
            break;
        }
    }
    let exit = Exit::Code(options.exit.unwrap_or(0));
    let ending = normaliser.finish(exit, &options.stderr, &mut writer);
    writer.flush()?;
    Ok(ending)
}

/// Writes events and activities as lines of JSON and leaves notes out.
#[derive(Debug)]
pub struct EventWriter<W> {
    output: W,
    buffer: Vec<u8>,
    failure: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    /// Builds a writer on top of this output.
    pub fn new(output: W) -> Self {
        Self {
            output,
            buffer: Vec::with_capacity(WRITE_BYTES * 2),
            failure: None,
        }
    }

    /// Writes what is gathered; reports the first failure since the last call.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_out();
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.output.flush(),
        }
    }

    /// Writes which chat and which model this is, for callers that asked for it.
    pub fn session(&mut self, id: &str, model: &str) {
        self.line(&serde_json::json!({"type": "session", "data": {"sessionId": id, "model": model}}));
    }

    fn write_out(&mut self) {
        if self.failure.is_none() && !self.buffer.is_empty() {
            self.failure = self.output.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }

    fn line(&mut self, value: &impl Serialize) {
        self.json(value);
        self.end_line();
    }

    /// Writes a piece of text, which nearly every event is, without spelling out the same names each time.
    fn delta(&mut self, content: &str) {
        self.buffer.extend_from_slice(DELTA_HEAD);
        self.json(content);
        self.buffer.extend_from_slice(DELTA_TAIL);
        self.end_line();
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        if let Err(error) = serde_json::to_writer(&mut self.buffer, value) {
            self.failure.get_or_insert(error.into());
        }
    }

    fn end_line(&mut self) {
        self.buffer.push(b'\n');
        if self.buffer.len() >= WRITE_BYTES {
            self.write_out();
        }
    }
}

impl<W: Write> Sink for EventWriter<W> {
    fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Event(Event::AssistantDelta { content }) => self.delta(&content),
            Item::Event(event) => self.line(&event),
            Item::Activity(activity) => self.line(&activity),
            Item::Note(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn a_delta_is_written_exactly_as_its_event() {
        for text in ["", "plain", "über 🙂", "\"}}\n\r\t\\", "\0\u{7f}\u{2028}"] {
            let content = Cow::Borrowed(text);
            let event = Event::AssistantDelta { content };
            let expected = format!("{}\n", serde_json::to_string(&event).unwrap());
            let mut written = Vec::new();
            let mut writer = EventWriter::new(&mut written);
            writer.item(Item::Event(event));
            writer.flush().unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }
}
