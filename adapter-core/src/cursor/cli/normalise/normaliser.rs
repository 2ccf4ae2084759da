//! Takes the bytes of stdout in each of the formats the CLI can write.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::state::State;
use crate::contract::{
    Ending, ErrorCode, ErrorData, Evidence, Exit, Frame, FrameError, Framer, LINE_BYTES_MAX, OutputFormat,
    Sink,
};

/// The normaliser's options: facts about the command line and the tools.
#[derive(Debug, Clone, Default)]
pub struct NormaliserOptions {
    /// Whether `--stream-partial-output` was passed.
    pub partial: bool,
    /// Whether the CLI's own tools are reported.
    pub activity: bool,
    /// Whether arguments and results of those tools are reported too.
    pub details: bool,
    /// The format that was asked for.
    pub format: OutputFormat,
    /// The names of the tools the caller executes.
    pub registered: BTreeSet<String>,
}

/// Turns the CLI's stdout into items.
#[derive(Debug)]
pub struct Normaliser {
    framer: Framer,
    /// Collects output that is one document, or the end of a text that may still grow.
    whole: Vec<u8>,
    state: State,
}

impl Normaliser {
    /// Begins a turn.
    pub fn new(options: NormaliserOptions) -> Self {
        Self {
            framer: Framer::new(),
            whole: Vec::new(),
            state: State::new(options),
        }
    }

    /// Takes the next bytes of stdout; returns whether the turn has ended.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> bool {
        if self.state.ending.is_some() {
            return true;
        }
        match self.state.options.format {
            OutputFormat::StreamJson => self.feed_frames(bytes, sink),
            OutputFormat::Json => self.feed_document(bytes, sink),
            OutputFormat::Text => self.feed_text(bytes, sink),
        }
        self.state.ending.is_some()
    }

    /// Ends the stream: the process is gone, this is how, and this is what it wrote to stderr.
    pub fn finish(&mut self, exit: Exit, stderr: &str, sink: &mut dyn Sink) -> Ending {
        if self.state.ending.is_none() {
            self.finish_output(sink);
        }
        self.state.finish(exit, stderr, sink)
    }

    /// Ends the turn for a reason outside the stream, such as a deadline.
    pub fn abort(&mut self, error: ErrorData, sink: &mut dyn Sink) -> Ending {
        self.state.fail(error, sink);
        self.state.ending()
    }

    /// Returns how the turn ended, once it has.
    pub fn ending(&self) -> Option<&Ending> {
        self.state.ending.as_ref()
    }

    /// Returns what the stream proves so far.
    pub fn evidence(&self) -> &Evidence {
        &self.state.evidence
    }

    /// Returns how many events were forwarded.
    pub fn forwarded(&self) -> u64 {
        self.state.forwarded
    }

    fn feed_frames(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let state = &mut self.state;
        let fed = self.framer.feed(bytes, |frame| {
            state.frame(frame, sink);
            Ok::<_, FrameError>(())
        });
        if let Err(error) = fed {
            self.state.fail_frame(error, sink);
        }
    }

    fn feed_document(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        if self.whole.len() + bytes.len() > LINE_BYTES_MAX {
            return self.state.fail_frame(FrameError::TooLong, sink);
        }
        self.whole.extend_from_slice(bytes);
    }

    /// Emits text as it comes, except for its end: a last line break belongs to the terminal, not to the answer,
    /// and a character may not have arrived in full.
    fn feed_text(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        self.feed_document(bytes, sink);
        if self.state.ending.is_some() {
            return;
        }
        let valid = match std::str::from_utf8(&self.whole) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => {
                let message = "the CLI wrote bytes that are not UTF-8";
                return self
                    .state
                    .fail(ErrorData::new(ErrorCode::Protocol, message), sink);
            }
        };
        let ready = self.whole[..valid].trim_ascii_end().len();
        if ready > 0 {
            let text = String::from_utf8_lossy(&self.whole[..ready]).into_owned();
            self.state.emit_text(Cow::Owned(text), sink);
            self.whole.drain(..ready);
        }
    }

    fn finish_output(&mut self, sink: &mut dyn Sink) {
        match self.state.options.format {
            OutputFormat::StreamJson => match self.framer.finish() {
                Ok(Some(Frame::Json(line))) if !is_whole(line) => self.state.tear(),
                Ok(Some(frame)) => self.state.frame(frame, sink),
                Ok(None) => {}
                Err(error) => self.state.fail_frame(error, sink),
            },
            OutputFormat::Json => self.finish_document(sink),
            OutputFormat::Text if self.whole.trim_ascii().is_empty() => {}
            OutputFormat::Text => self.state.tear(),
        }
    }

    /// Reads the one document, which may be spread over lines and stand among notices.
    fn finish_document(&mut self, sink: &mut dyn Sink) {
        let whole = std::mem::take(&mut self.whole);
        let mut rest = whole.trim_ascii();
        while let Some(first) = rest.first() {
            let taken = if *first == b'{' {
                match document_length(rest) {
                    Some(length) => {
                        self.state.frame(Frame::Json(&rest[..length]), sink);
                        length
                    }
                    None if is_cut_off(rest) => return self.state.tear(),
                    None => return self.state.frame(Frame::Json(rest), sink),
                }
            } else {
                let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.state.frame(Frame::Text(rest[..end].trim_ascii_end()), sink);
                end
            };
            rest = rest[taken..].trim_ascii_start();
        }
    }
}

fn is_whole(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Reports whether these bytes would be JSON if there were more of them.
fn is_cut_off(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

/// Returns how long the JSON value is that these bytes begin with; `None` when they begin with none.
fn document_length(bytes: &[u8]) -> Option<usize> {
    let text = simdutf8::basic::from_utf8(bytes).ok()?;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}
