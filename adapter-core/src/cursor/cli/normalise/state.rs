//! The state of a turn, and its update by each line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;

use serde::Deserialize;

use super::call::OpenCall;
use super::interaction::PendingAsk;
use super::normaliser::NormaliserOptions;
use super::surrogate::without_lone_surrogates;
use crate::contract::{
    Done, Ending, ErrorCode, ErrorData, Event, Evidence, Exit, Frame, FrameError, Item, Note, Sink,
};
use crate::cursor::cli::call_kind::EndedCalls;
use crate::cursor::cli::fault::{excerpt, exit_error};
use crate::cursor::cli::line::Line;
use crate::cursor::cli::scalar::Scalar;
use crate::cursor::cli::text::{Interval, Shape, TextRule};

/// The most bytes of notices that are kept for an error message.
const NOTICES_BYTES_MAX: usize = 8 * 1024;
/// The most bytes of a malformed line that are looked at for the error message.
const SHOWN_BYTES_MAX: usize = 120;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) options: NormaliserOptions,
    pub(super) text: TextRule,
    pub(super) open: HashMap<String, OpenCall>,
    pub(super) ended_calls: EndedCalls,
    pub(super) pending_asks: Vec<PendingAsk>,
    pub(super) evidence: Evidence,
    notices: String,
    /// A torn last line; the process's own words, if it failed with any, explain it better.
    torn: Option<ErrorData>,
    pub(super) forwarded: u64,
    pub(super) ending: Option<Ending>,
}

impl State {
    pub(super) fn new(options: NormaliserOptions) -> Self {
        let text = TextRule::new(options.partial);
        Self {
            options,
            text,
            ..Self::default()
        }
    }

    pub(super) fn frame(&mut self, frame: Frame<'_>, sink: &mut dyn Sink) {
        if self.ending.is_some() {
            return;
        }
        match frame {
            Frame::Json(line) => self.json(line, sink),
            Frame::Text(line) => self.notice(line, sink),
        }
    }

    fn json(&mut self, line: &[u8], sink: &mut dyn Sink) {
        let mut fields = Line::default();
        let reason = match read(&mut fields, line) {
            Ok(()) => return self.event(&mut fields, sink),
            Err(reason) => reason,
        };
        // JavaScript cuts strings between the halves of a character, and writes what is left as valid JSON.
        if let Some(mended) = without_lone_surrogates(line) {
            let mut fields = Line::default();
            if read(&mut fields, &mended).is_ok() {
                return self.event(&mut fields, sink);
            }
        }
        let shown = excerpt(&String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES_MAX)]));
        let message = format!("a line of the stream is malformed ({reason}): {shown}");
        self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
    }

    fn notice(&mut self, line: &[u8], sink: &mut dyn Sink) {
        let line = String::from_utf8_lossy(line);
        sink.item(Item::Note(Note::Notice(&line)));
        let room = NOTICES_BYTES_MAX.saturating_sub(self.notices.len() + 1);
        if room > 0 {
            self.notices.extend(line.chars().take(room / 4));
            self.notices.push('\n');
        }
    }

    fn event(&mut self, line: &mut Line<'_>, sink: &mut dyn Sink) {
        let Some(kind) = line.kind.as_str() else {
            return sink.item(Item::Note(Note::UnknownType("")));
        };
        if self.evidence.session_id.is_none() {
            self.session(line, sink);
        }
        match kind {
            "assistant" => self.assistant(line, sink),
            "thinking" | "user" | "step_start" | "step_finish" | "tool_use" | "tool_result" => {}
            "tool_call" => self.tool_call(line, sink),
            "system" => self.system(line, sink),
            "interaction_query" => self.interaction(line, sink),
            "connection" | "retry" => {
                self.interval(Interval::Interruption, sink);
                sink.item(Item::Note(Note::Connection(
                    line.subtype.as_str().unwrap_or(kind),
                )));
            }
            "result" => self.result(line, sink),
            "text" => self.legacy_text(line, sink),
            "assistant_delta" => self.contract_delta(line, sink),
            "usage" => self.contract_usage(line, sink),
            "error" => self.reported(line, sink),
            "done" => self.contract_done(line, sink),
            "protocol" => self.protocol(line, sink),
            unknown => sink.item(Item::Note(Note::UnknownType(unknown))),
        }
    }

    fn assistant(&mut self, line: &mut Line<'_>, sink: &mut dyn Sink) {
        let shape = Shape {
            timestamp: line.timestamp_ms.is_some(),
            model_call: line.model_call_id.is_some(),
        };
        let message = mem::take(&mut line.message.0);
        self.with_text(sink, |text, emit| text.assistant(message, shape, emit));
    }

    pub(super) fn emit_text(&mut self, content: Cow<'_, str>, sink: &mut dyn Sink) {
        self.with_text(sink, |text, emit| text.emit(content, emit));
    }

    /// Tells the text rule what stands between two pieces of text.
    pub(super) fn interval(&mut self, interval: Interval<'_>, sink: &mut dyn Sink) {
        self.with_text(sink, |text, emit| text.interval(interval, emit));
    }

    /// Lets the text rule work, and forwards what it finds new.
    fn with_text(
        &mut self,
        sink: &mut dyn Sink,
        work: impl FnOnce(&mut TextRule, &mut dyn FnMut(Cow<'_, str>)),
    ) {
        let Self {
            text,
            evidence,
            forwarded,
            ..
        } = self;
        work(text, &mut |content| {
            evidence.push_text(&content);
            *forwarded += 1;
            sink.item(Item::Event(Event::AssistantDelta { content }));
        });
    }

    fn legacy_text(&mut self, line: &mut Line<'_>, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow, default)]
            text: Scalar<'a>,
        }
        let part = line
            .part
            .and_then(|part| serde_json::from_str::<Part<'_>>(part.get()).ok());
        let text = mem::take(&mut line.text)
            .into_text()
            .or_else(|| part.and_then(|part| part.text.into_text()));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.emit_text(text, sink);
        }
    }

    fn system(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        match line.subtype.as_str() {
            Some("init") => {
                let known = self.evidence.session_id.as_deref();
                if line.session_id.non_empty().is_some_and(|id| known != Some(id)) {
                    self.session(line, sink);
                }
                self.evidence.model = line.model.as_str().map(str::to_owned);
            }
            Some("error") => self.reported(line, sink),
            _ => {}
        }
    }

    /// Learns which chat this is, from the first line that says so.
    fn session(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let Some(id) = line.session_id.non_empty() else {
            return;
        };
        self.evidence.session_id = Some(id.to_owned());
        sink.item(Item::Note(Note::Session {
            id,
            model: line.model.as_str().unwrap_or_default(),
        }));
    }

    pub(super) fn end_well(&mut self, done: Done, sink: &mut dyn Sink) {
        self.skip_unanswered(sink);
        sink.item(Item::Event(Event::Done(done.clone())));
        self.ending = Some(Ending::Done(done));
    }

    pub(super) fn fail(&mut self, error: ErrorData, sink: &mut dyn Sink) {
        if self.ending.is_none() {
            sink.item(Item::Event(Event::Error(error.clone())));
            self.ending = Some(Ending::Error(error));
        }
    }

    pub(super) fn fail_frame(&mut self, error: FrameError, sink: &mut dyn Sink) {
        let code = match error {
            FrameError::TooLong => ErrorCode::LineTooLong,
            FrameError::UnclosedBlock => ErrorCode::Truncated,
        };
        self.fail(ErrorData::new(code, error.to_string()), sink);
    }

    /// Notes that the stream broke off inside an event.
    pub(super) fn tear(&mut self) {
        let message = "the stream broke off in the middle of an event";
        self.torn = Some(ErrorData::new(ErrorCode::Truncated, message));
    }

    pub(super) fn finish(&mut self, exit: Exit, stderr: &str, sink: &mut dyn Sink) -> Ending {
        if self.ending.is_some() {
            if !exit.is_success() && matches!(self.ending, Some(Ending::Done(_))) {
                sink.item(Item::Note(Note::LateExit(exit)));
            }
            return self.ending();
        }
        self.interval(Interval::Interruption, sink);
        // A process that died while writing is best explained by its own words, if it had any.
        let explained = !exit.is_success() && !stderr.trim().is_empty();
        match self.torn.take() {
            Some(torn) if !explained => self.fail(torn, sink),
            None if exit.is_success() && self.forwarded > 0 => {
                let done = Done {
                    truncated: true,
                    ..Done::default()
                };
                self.end_well(done, sink);
            }
            _ => self.fail(exit_error(exit, stderr, &self.notices), sink),
        }
        self.ending()
    }

    pub(super) fn ending(&self) -> Ending {
        let unknown = || Ending::Error(ErrorData::new(ErrorCode::NoOutput, "the turn has not ended"));
        self.ending.clone().unwrap_or_else(unknown)
    }
}

/// Reads a line; validating the bytes first is several times faster than leaving it to the parser.
fn read<'a>(fields: &mut Line<'a>, line: &'a [u8]) -> Result<(), String> {
    let text = simdutf8::basic::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    fields.read(text).map_err(|error| error.to_string())
}
