//! The state machine from stream to contract events.
//!
//! Bytes go in, items come out, and time plays no part. Malformed frames fail closed: a line that begins like JSON
//! and is not ends the turn with an error. Plain words on stdout are notices, never the assistant's text.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::activity::{Activity, ActivityData, Phase, hint};
use super::evidence::{CallKind, CallRecord, EndedCalls, Evidence, read_kind};
use super::fault::{Exit, excerpt, exit_error, reported_error};
use super::line::Line;
use super::question::AskQuestion;
use super::recover::Decision;
use super::scalar::Scalar;
use super::text::{Shape, TextRule};
use super::tool::{OUTCOME_UNKNOWN, ToolBody, ToolResult};
use crate::contract::{
    Done, ErrorCode, ErrorData, Event, Frame, FrameError, Framer, LINE_BYTES_MAX, OutputFormat, Usage,
    supported_version,
};
use crate::cursor::tool_kind::tool_name;

/// The most calls that may be open at once; later ones are reported but not remembered.
const OPEN_CALLS_MAX: usize = 4_096;
/// The most bytes of notices that are kept for an error message.
const NOTICES_BYTES_MAX: usize = 8 * 1024;
const ASK_KEY: &str = "askQuestionToolCall";

/// Receives what the normaliser finds.
pub trait Sink {
    /// Takes one item; it lives only for the call.
    fn item(&mut self, item: Item<'_>);
}

impl<F: FnMut(Item<'_>)> Sink for F {
    fn item(&mut self, item: Item<'_>) {
        self(item);
    }
}

/// One thing found in the stream.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// An event of the contract.
    Event(Event<'a>),
    /// A step of one of the CLI's own tools; only when asked for.
    Activity(Activity<'a>),
    /// Something to log or show that is no event.
    Note(Note<'a>),
}

/// Something to log or show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note<'a> {
    /// The chat and the model, as the CLI named them.
    Session {
        /// The chat's id.
        id: &'a str,
        /// The model's display name.
        model: &'a str,
    },
    /// The CLI lost, or found, its server; the turn goes on.
    Connection(&'a str),
    /// Words on stdout that are no event.
    Notice(&'a str),
    /// A line of a type nobody knows.
    UnknownType(&'a str),
    /// A tool was called that is not registered; it is not forwarded.
    UnknownTool(&'a str),
    /// The CLI answered its own question; no human saw it.
    QuestionSkipped,
    /// The streamed text is not the text of the result.
    TextMismatch,
    /// The process failed after its turn had ended well.
    LateExit(Exit),
    /// A turn failed, and this was decided.
    Recovery(&'a Decision),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Well.
    Done(Done),
    /// Not well.
    Error(ErrorData),
}

/// What the normaliser has to know about the command line and the tools.
#[derive(Debug, Clone, Default)]
pub struct NormaliserOptions {
    /// Whether `--stream-partial-output` was passed.
    pub partial: bool,
    /// Whether the CLI's own tools are reported.
    pub activity: bool,
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
    /// Builds the machine for one turn.
    pub fn new(options: NormaliserOptions) -> Self {
        let text = TextRule::new(options.partial);
        let state = State {
            options,
            text,
            ..State::default()
        };
        Self {
            framer: Framer::new(),
            whole: Vec::new(),
            state,
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

    /// Takes one line that begins like JSON.
    pub fn line(&mut self, line: &[u8], sink: &mut dyn Sink) {
        self.state.json(line, sink);
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
        self.whole.extend_from_slice(bytes);
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
                Ok(Some(Frame::Json(line))) if parse(line).is_err() => {
                    let message = "the stream broke off in the middle of a line";
                    self.state.torn = Some(ErrorData::new(ErrorCode::Truncated, message));
                }
                Ok(Some(frame)) => self.state.frame(frame, sink),
                Ok(None) => {}
                Err(error) => self.state.fail_frame(error, sink),
            },
            OutputFormat::Json => self.finish_document(sink),
            OutputFormat::Text => {}
        }
    }

    /// Reads the one document, which may be spread over lines and preceded by notices.
    fn finish_document(&mut self, sink: &mut dyn Sink) {
        let whole = std::mem::take(&mut self.whole);
        let mut rest = whole.as_slice();
        while !rest.trim_ascii().is_empty() {
            rest = rest.trim_ascii_start();
            if rest.first() == Some(&b'{') {
                return self.state.json(rest.trim_ascii_end(), sink);
            }
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.state.frame(Frame::Text(&rest[..end]), sink);
            rest = &rest[end..];
        }
    }
}

#[derive(Debug, Default)]
struct State {
    options: NormaliserOptions,
    text: TextRule,
    open: HashMap<String, OpenCall>,
    ended_calls: EndedCalls,
    pending_asks: Vec<AskQuestion>,
    evidence: Evidence,
    notices: String,
    /// A torn last line; the process's own words, if it failed with any, explain it better.
    torn: Option<ErrorData>,
    forwarded: u64,
    ending: Option<Ending>,
}

/// A call that has started and not ended.
#[derive(Debug)]
struct OpenCall {
    key: String,
    hint: Option<String>,
    what: CallKind,
    background: bool,
    ask: Option<AskQuestion>,
}

impl State {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut dyn Sink) {
        if self.ending.is_some() {
            return;
        }
        match frame {
            Frame::Json(line) => self.json(line, sink),
            Frame::Text(line) => self.notice(line, sink),
        }
    }

    fn json(&mut self, line: &[u8], sink: &mut dyn Sink) {
        if self.ending.is_some() {
            return;
        }
        match parse(line) {
            Ok(line) => self.event(line, sink),
            Err(reason) => {
                let shown = excerpt(&String::from_utf8_lossy(&line[..line.len().min(120)]));
                let message = format!("a line of the stream is malformed ({reason}): {shown}");
                self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
            }
        }
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

    fn event(&mut self, line: Line<'_>, sink: &mut dyn Sink) {
        let Some(kind) = line.kind.as_str() else {
            return sink.item(Item::Note(Note::UnknownType("")));
        };
        match kind {
            "assistant" => self.assistant(line, sink),
            "thinking" | "user" | "step_start" | "step_finish" | "tool_use" | "tool_result" => {}
            "tool_call" => self.tool_call(&line, sink),
            "system" => self.system(&line, sink),
            "interaction_query" => self.interaction(&line, sink),
            "connection" | "retry" => {
                self.text.boundary();
                sink.item(Item::Note(Note::Connection(
                    line.subtype.as_str().unwrap_or(kind),
                )));
            }
            "result" => self.result(&line, sink),
            "text" => self.legacy_text(line, sink),
            "assistant_delta" => self.contract_delta(&line, sink),
            "usage" => self.contract_usage(&line, sink),
            "error" => self.reported(&line, sink),
            "done" => self.contract_done(&line, sink),
            "protocol" => self.protocol(&line, sink),
            unknown => sink.item(Item::Note(Note::UnknownType(unknown))),
        }
    }

    fn assistant(&mut self, line: Line<'_>, sink: &mut dyn Sink) {
        let shape = Shape {
            timestamp: line.timestamp_ms.is_present(),
            model_call: line.model_call_id.is_present(),
        };
        let Self {
            text,
            evidence,
            forwarded,
            ..
        } = self;
        text.assistant(line.message.0, shape, &mut |content| {
            forward_text(evidence, forwarded, content, sink)
        });
    }

    fn emit_text(&mut self, content: Cow<'_, str>, sink: &mut dyn Sink) {
        let Self {
            text,
            evidence,
            forwarded,
            ..
        } = self;
        text.emit(content, &mut |content| {
            forward_text(evidence, forwarded, content, sink)
        });
    }

    fn legacy_text(&mut self, line: Line<'_>, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow, default)]
            text: Scalar<'a>,
        }
        let part = line
            .part
            .and_then(|part| serde_json::from_str::<Part<'_>>(part.get()).ok());
        let text = line
            .text
            .into_text()
            .or_else(|| part.and_then(|part| part.text.into_text()));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.emit_text(text, sink);
        }
    }

    fn system(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        match line.subtype.as_str() {
            Some("init") => {
                self.session(line);
                self.evidence.model = line.model.as_str().map(str::to_owned);
                let id = line.session_id.as_str().unwrap_or_default();
                sink.item(Item::Note(Note::Session {
                    id,
                    model: line.model.as_str().unwrap_or_default(),
                }));
            }
            Some("error") => self.reported(line, sink),
            _ => {}
        }
    }

    fn session(&mut self, line: &Line<'_>) {
        if let Some(id) = line.session_id.non_empty() {
            self.evidence.session_id = Some(id.to_owned());
        }
    }

    fn interaction(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        self.text.boundary();
        if let Some(ask) = line.query.and_then(AskQuestion::from_query) {
            if self.pending_asks.len() < OPEN_CALLS_MAX {
                self.pending_asks.push(ask);
            }
            return;
        }
        let Some(answer) = line.response.and_then(read_ask_response) else {
            return;
        };
        let Some(ask) = self.pending_asks.pop() else {
            return;
        };
        if answer == AskAnswer::Rejected {
            self.skip(ask, sink);
        }
    }

    fn skip(&mut self, ask: AskQuestion, sink: &mut dyn Sink) {
        let before = self.evidence.skipped_questions.len();
        self.evidence.skipped(ask);
        if self.evidence.skipped_questions.len() > before {
            sink.item(Item::Note(Note::QuestionSkipped));
        }
    }

    fn tool_call(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        self.text.boundary();
        if let Some(data) = line.data {
            return self.contract_tool_call(data, sink);
        }
        let object = &line.tool_call;
        let subtype = line.subtype.as_str().unwrap_or_default();
        match (&object.tool, &object.function) {
            (Some((key, body)), _) => self.own_tool(line, subtype, key, body, sink),
            (None, Some(body)) => self.nested_tool(line, subtype, &body.name, body.args, sink),
            (None, None) => self.nested_tool(line, subtype, &object.name, object.arguments, sink),
        }
    }

    /// A tool the CLI runs itself: never forwarded, or it would run twice.
    fn own_tool(
        &mut self,
        line: &Line<'_>,
        subtype: &str,
        key: &str,
        body: &ToolBody<'_>,
        sink: &mut dyn Sink,
    ) {
        let call_id = line.call_id.as_str().unwrap_or_default();
        match subtype {
            "started" => self.call_started(call_id, key, body, sink),
            "completed" => self.call_completed(call_id, key, body, sink),
            _ => {}
        }
    }

    fn call_started(&mut self, call_id: &str, key: &str, body: &ToolBody<'_>, sink: &mut dyn Sink) {
        if self.open.contains_key(call_id) || self.ended_calls.contains(call_id) {
            return;
        }
        let call = self.describe(call_id, key, body.args);
        if self.options.activity {
            sink.item(Item::Activity(activity(Phase::Started, call_id, &call, body)));
        }
        if self.open.len() < OPEN_CALLS_MAX {
            self.open.insert(call_id.to_owned(), call);
        }
        self.evidence.open_calls = self.open.len();
    }

    fn call_completed(&mut self, call_id: &str, key: &str, body: &ToolBody<'_>, sink: &mut dyn Sink) {
        if self.ended_calls.contains(call_id) {
            return;
        }
        let mut call = self
            .open
            .remove(call_id)
            .unwrap_or_else(|| self.describe(call_id, key, body.args));
        self.ended_calls.push(call_id);
        self.evidence.open_calls = self.open.len();
        if self.options.activity {
            sink.item(Item::Activity(activity(Phase::Completed, call_id, &call, body)));
        }
        if let Some(ask) = call.ask.take() {
            self.pending_asks.retain(|pending| pending.call_id != ask.call_id);
            if outcome(body) != "success" {
                self.skip(ask, sink);
            }
        }
        let result = body.result.as_ref();
        self.evidence.last_call = Some(CallRecord {
            key: call.key,
            outcome: outcome(body).to_owned(),
            exit_code: result.and_then(ToolResult::exit_code),
            is_background: call.background || result.and_then(|result| result.is_background) == Some(true),
            what: call.what,
        });
    }

    fn describe(&self, call_id: &str, key: &str, args: Option<&RawValue>) -> OpenCall {
        let (what, background) = args.map(|args| read_kind(key, args)).unwrap_or_default();
        OpenCall {
            key: key.to_owned(),
            hint: args.filter(|_| self.options.activity).and_then(hint),
            what,
            background,
            ask: args
                .filter(|_| key == ASK_KEY)
                .and_then(|args| AskQuestion::from_args(call_id, args)),
        }
    }

    /// A nested call by name: the caller's tool when it is registered, else the CLI's own business.
    fn nested_tool(
        &mut self,
        line: &Line<'_>,
        subtype: &str,
        name: &Scalar<'_>,
        args: Option<&RawValue>,
        sink: &mut dyn Sink,
    ) {
        let call_id = line.call_id.as_str().unwrap_or_default();
        let Some(name) = name.non_empty() else { return };
        if subtype == "completed" || subtype == "progress" || self.ended_calls.contains(call_id) {
            return;
        }
        if !call_id.is_empty() {
            self.ended_calls.push(call_id);
        }
        self.forward_call(name, args, sink);
    }

    fn contract_tool_call(&mut self, data: &RawValue, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            name: Scalar<'a>,
            #[serde(borrow, default)]
            args: Option<&'a RawValue>,
        }
        match serde_json::from_str::<Data<'_>>(data.get()) {
            Ok(Data {
                name: Scalar::Text(name),
                args,
            }) if !name.is_empty() => self.forward_call(&name, args, sink),
            _ => {
                let message = "a tool_call event has no data.name";
                self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
            }
        }
    }

    fn forward_call(&mut self, name: &str, args: Option<&RawValue>, sink: &mut dyn Sink) {
        if !self.options.registered.contains(name) {
            return sink.item(Item::Note(Note::UnknownTool(name)));
        }
        let Some(args) = arguments(args) else {
            let message = format!("the arguments of {name} are not JSON");
            return self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
        };
        self.forwarded += 1;
        sink.item(Item::Event(Event::ToolCall {
            name: Cow::Borrowed(name),
            args,
        }));
    }

    fn contract_delta(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            content: Scalar<'a>,
        }
        let data = line
            .data
            .and_then(|data| serde_json::from_str::<Data<'_>>(data.get()).ok());
        match data.and_then(|data| data.content.into_text()) {
            Some(text) if text.is_empty() => {}
            Some(text) => self.emit_text(text, sink),
            None => {
                let message = "an assistant_delta event has no data.content";
                self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
            }
        }
    }

    fn contract_usage(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        if let Some(usage) = line
            .data
            .and_then(|data| serde_json::from_str::<Usage>(data.get()).ok())
        {
            self.forwarded += 1;
            sink.item(Item::Event(Event::Usage(usage)));
        }
    }

    fn contract_done(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let done = line
            .data
            .and_then(|data| serde_json::from_str::<Done>(data.get()).ok())
            .unwrap_or_default();
        self.end_well(done, sink);
    }

    fn protocol(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            version: Scalar<'a>,
        }
        let data = line
            .data
            .and_then(|data| serde_json::from_str::<Data<'_>>(data.get()).ok());
        let version = data
            .as_ref()
            .and_then(|data| data.version.as_str())
            .unwrap_or_default();
        if !supported_version(version) {
            let message = format!("the CLI speaks protocol version {version:?}, which is not supported");
            self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
        }
    }

    /// An `error` line of the contract, or of one of the CLI's older forms.
    fn reported(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Data<'a> {
            #[serde(borrow)]
            code: Scalar<'a>,
            #[serde(borrow)]
            message: Scalar<'a>,
        }
        let raw = line.data.or(line.error);
        let data: Data<'_> = raw
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let plain = raw
            .and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok())
            .unwrap_or_default();
        let words = [
            data.message.as_str(),
            Some(&*plain),
            Some(&*line.message.0),
            line.result.as_str(),
            line.text.as_str(),
        ];
        let words = words
            .into_iter()
            .flatten()
            .find(|words| !words.is_empty())
            .unwrap_or_default();
        let mut error = reported_error(words);
        if let Some(code) = data.code.non_empty() {
            error = ErrorData::new(ErrorCode::parse(code), error.message);
        }
        self.fail(error, sink);
    }

    fn result(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        self.text.boundary();
        if self.evidence.session_id.is_none() {
            self.session(line);
        }
        let failed = line.is_error.is_true()
            || line
                .subtype
                .as_str()
                .is_some_and(|subtype| subtype.contains("error"));
        if failed {
            return self.reported(line, sink);
        }
        let whole = line.result.as_str().unwrap_or_default();
        if self.text.is_silent() && !whole.is_empty() {
            self.emit_text(Cow::Borrowed(whole), sink);
        } else if line.result.as_str().is_some() && !self.text.total_is(whole) {
            sink.item(Item::Note(Note::TextMismatch));
        }
        if let Some(usage) = line.usage.and_then(read_usage) {
            self.forwarded += 1;
            sink.item(Item::Event(Event::Usage(usage)));
        }
        self.end_well(Done::default(), sink);
    }

    fn end_well(&mut self, done: Done, sink: &mut dyn Sink) {
        for ask in std::mem::take(&mut self.pending_asks) {
            self.skip(ask, sink);
        }
        sink.item(Item::Event(Event::Done(done.clone())));
        self.ending = Some(Ending::Done(done));
    }

    fn fail(&mut self, error: ErrorData, sink: &mut dyn Sink) {
        if self.ending.is_none() {
            sink.item(Item::Event(Event::Error(error.clone())));
            self.ending = Some(Ending::Error(error));
        }
    }

    fn fail_frame(&mut self, error: FrameError, sink: &mut dyn Sink) {
        let code = match error {
            FrameError::TooLong => ErrorCode::LineTooLong,
            FrameError::UnclosedBlock => ErrorCode::Truncated,
        };
        self.fail(ErrorData::new(code, error.to_string()), sink);
    }

    fn finish(&mut self, exit: Exit, stderr: &str, sink: &mut dyn Sink) -> Ending {
        if self.ending.is_some() {
            if !exit.is_success() {
                sink.item(Item::Note(Note::LateExit(exit)));
            }
            return self.ending();
        }
        self.text.boundary();
        // A process that died while writing is best explained by its own words, if it had any.
        let explained = !exit.is_success() && !stderr.trim().is_empty();
        match self.torn.take() {
            Some(torn) if !explained => self.fail(torn, sink),
            _ if exit.is_success() && self.forwarded > 0 => {
                self.end_well(
                    Done {
                        truncated: true,
                        ..Done::default()
                    },
                    sink,
                );
            }
            _ => self.fail(exit_error(exit, stderr, &self.notices), sink),
        }
        self.ending()
    }

    fn ending(&self) -> Ending {
        let unknown = || Ending::Error(ErrorData::new(ErrorCode::NoOutput, "the turn has not ended"));
        self.ending.clone().unwrap_or_else(unknown)
    }
}

fn forward_text(evidence: &mut Evidence, forwarded: &mut u64, content: Cow<'_, str>, sink: &mut dyn Sink) {
    evidence.push_text(&content);
    *forwarded += 1;
    sink.item(Item::Event(Event::AssistantDelta { content }));
}

/// Reads a line; validating the bytes first is several times faster than leaving it to the parser.
fn parse(line: &[u8]) -> Result<Line<'_>, String> {
    let text = simdutf8::basic::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn outcome<'a>(body: &'a ToolBody<'_>) -> &'a str {
    body.result.as_ref().map_or(OUTCOME_UNKNOWN, ToolResult::outcome)
}

fn activity<'a>(phase: Phase, call_id: &'a str, call: &'a OpenCall, body: &'a ToolBody<'_>) -> Activity<'a> {
    let result = body.result.as_ref().filter(|_| phase == Phase::Completed);
    let ended = phase == Phase::Completed;
    let data = ActivityData {
        phase,
        call_id: Cow::Borrowed(call_id),
        name: Cow::Borrowed(tool_name(&call.key)),
        key: Cow::Borrowed(&call.key),
        hint: call.hint.as_deref().map(Cow::Borrowed),
        outcome: ended.then(|| Cow::Borrowed(outcome(body))),
        exit_code: result.and_then(ToolResult::exit_code),
        is_background: result.and_then(|result| result.is_background),
        reason: result.and_then(ToolResult::reason).map(Cow::Borrowed),
    };
    Activity { data }
}

/// Returns the arguments of a nested call; a legacy call writes them as JSON inside a string.
fn arguments(args: Option<&RawValue>) -> Option<Cow<'_, RawValue>> {
    let Some(args) = args else {
        return RawValue::from_string("{}".to_owned()).ok().map(Cow::Owned);
    };
    if !args.get().starts_with('"') {
        return Some(Cow::Borrowed(args));
    }
    let inner: String = serde_json::from_str(args.get()).ok()?;
    RawValue::from_string(inner).ok().map(Cow::Owned)
}

fn read_usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Raw<'a> {
        #[serde(borrow, alias = "inputTokens", alias = "promptTokens")]
        input_tokens: Scalar<'a>,
        #[serde(borrow, alias = "outputTokens", alias = "completionTokens")]
        output_tokens: Scalar<'a>,
        #[serde(borrow, alias = "cacheReadTokens")]
        cache_read_tokens: Scalar<'a>,
        #[serde(borrow, alias = "cacheWriteTokens")]
        cache_write_tokens: Scalar<'a>,
    }
    let raw: Raw<'_> = serde_json::from_str(raw.get()).ok()?;
    let (prompt, completion) = (raw.input_tokens.as_u64(), raw.output_tokens.as_u64());
    // Absent usage is no usage; zeros would be a claim.
    prompt.or(completion)?;
    Some(Usage {
        prompt_tokens: prompt.unwrap_or_default(),
        completion_tokens: completion.unwrap_or_default(),
        cache_read_tokens: raw.cache_read_tokens.as_u64(),
        cache_write_tokens: raw.cache_write_tokens.as_u64(),
    })
}

#[derive(PartialEq, Eq)]
enum AskAnswer {
    Rejected,
    Answered,
}

/// Reads the CLI's answer to a question; `None` when it answers another kind of query.
fn read_ask_response(response: &RawValue) -> Option<AskAnswer> {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow, rename = "askQuestionInteractionResponse")]
        ask: Option<Answer<'a>>,
    }
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, default)]
        result: HashMap<Cow<'a, str>, &'a RawValue>,
    }
    let response: Response<'_> = serde_json::from_str(response.get()).ok()?;
    let answered = response.ask?.result.contains_key("success");
    Some(if answered {
        AskAnswer::Answered
    } else {
        AskAnswer::Rejected
    })
}
