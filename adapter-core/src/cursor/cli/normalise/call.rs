//! Tool calls: the CLI's own are watched, the caller's are forwarded.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::state::State;
use crate::contract::{
    Activity, ActivityData, AskQuestion, CallKind, CallRecord, ErrorCode, ErrorData, Event, Item, Note,
    Phase, Sink, detail, diff_of,
};
use crate::cursor::cli::call_kind::read_kind;
use crate::cursor::cli::hint::hint;
use crate::cursor::cli::line::Line;
use crate::cursor::cli::text::Interval;
use crate::cursor::cli::tool::{
    FUNCTION_KEY, OUTCOME_SUCCESS, OUTCOME_UNKNOWN, ToolBody, ToolObject, ToolResult,
};
use crate::cursor::tool_kind::tool_name;

/// The most calls that may be open at once; later ones are reported but not remembered.
pub(super) const OPEN_CALLS_MAX: usize = 4_096;
const ASK_KEY: &str = "askQuestionToolCall";

/// A call that has started and not ended.
#[derive(Debug)]
pub(super) struct OpenCall {
    key: String,
    /// The tool's own name, in the shapes that have one.
    name: Option<String>,
    hint: Option<String>,
    what: CallKind,
    background: bool,
    pub(super) ask: Option<AskQuestion>,
}

/// The tool that a line is about.
#[derive(Clone, Copy)]
struct Tool<'a> {
    key: &'a str,
    name: Option<&'a str>,
    body: &'a ToolBody<'a>,
}

impl State {
    pub(super) fn tool_call(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let subtype = line.subtype.as_str().unwrap_or_default();
        if subtype == "progress" {
            return;
        }
        self.interval(Interval::Call, sink);
        if let Some(data) = line.data {
            return self.contract_tool_call(data, sink);
        }
        let none = ToolObject::default();
        let object = line.tool_call.as_deref().unwrap_or(&none);
        let call_id = line.call_id.non_empty().or(object.call_id.non_empty());
        let call_id = call_id.unwrap_or_default();
        match (&object.tool, &object.function) {
            (Some((key, body)), _) => {
                let tool = Tool {
                    key,
                    name: None,
                    body,
                };
                self.own_tool(call_id, subtype, tool, sink);
            }
            (None, Some(body)) => self.nested_tool(call_id, subtype, FUNCTION_KEY, body, sink),
            (None, None) => self.nested_tool(call_id, subtype, FUNCTION_KEY, &object.flat, sink),
        }
    }

    /// A tool the CLI runs itself: never forwarded, or it would run twice.
    fn own_tool(&mut self, call_id: &str, subtype: &str, tool: Tool<'_>, sink: &mut dyn Sink) {
        match subtype {
            "started" => self.call_started(call_id, tool, sink),
            "completed" => self.call_completed(call_id, tool, sink),
            _ => {}
        }
    }

    /// A nested call by name: the caller's tool when it is registered, else the CLI's own business.
    fn nested_tool(
        &mut self,
        call_id: &str,
        subtype: &str,
        key: &str,
        body: &ToolBody<'_>,
        sink: &mut dyn Sink,
    ) {
        let Some(name) = body.name.non_empty() else { return };
        if !self.options.registered.contains(name) {
            let tool = Tool {
                key,
                name: Some(name),
                body,
            };
            self.own_tool(call_id, subtype, tool, sink);
            return sink.item(Item::Note(Note::UnknownTool(name)));
        }
        // A call that has ended is only reported: it must not run a second time.
        if subtype == "completed" || self.ended_calls.contains(call_id) {
            return;
        }
        if !call_id.is_empty() {
            self.ended_calls.push(call_id);
        }
        self.forward_call(name, body.args, sink);
    }

    fn call_started(&mut self, call_id: &str, tool: Tool<'_>, sink: &mut dyn Sink) {
        if self.open.contains_key(call_id) || self.ended_calls.contains(call_id) {
            return;
        }
        let call = self.describe(call_id, tool);
        if self.options.activity {
            let told = activity(Phase::Started, call_id, &call, tool.body, self.options.details);
            sink.item(Item::Activity(Box::new(told)));
        }
        if self.open.len() < OPEN_CALLS_MAX {
            self.open.insert(call_id.to_owned(), call);
        }
        self.evidence.open_calls = self.open.len();
    }

    fn call_completed(&mut self, call_id: &str, tool: Tool<'_>, sink: &mut dyn Sink) {
        if self.ended_calls.contains(call_id) {
            return;
        }
        let started = self.open.remove(call_id);
        let mut call = match started {
            // A start can come before the arguments are known.
            Some(call) if call.says_something() || tool.body.args.is_none() => call,
            _ => self.describe(call_id, tool),
        };
        self.ended_calls.push(call_id);
        self.evidence.open_calls = self.open.len();
        if self.options.activity {
            let told = activity(Phase::Completed, call_id, &call, tool.body, self.options.details);
            sink.item(Item::Activity(Box::new(told)));
        }
        if let Some(ask) = call.ask.take() {
            self.pending_asks.retain(|pending| !pending.ask.is_same(&ask));
            if outcome(tool.body) != OUTCOME_SUCCESS {
                self.skip(ask, sink);
            }
        }
        let result = tool.body.result.as_ref();
        self.evidence.last_call = Some(CallRecord {
            key: call.key,
            outcome: outcome(tool.body).to_owned(),
            exit_code: result.and_then(ToolResult::exit_code),
            is_background: call.background || result.and_then(|result| result.is_background) == Some(true),
            what: call.what,
        });
    }

    fn describe(&self, call_id: &str, tool: Tool<'_>) -> OpenCall {
        let Tool { key, name, body } = tool;
        let args = body.args.and_then(|args| arguments(Some(args)));
        let args = args.as_deref();
        let (what, background) = args.map(|args| read_kind(key, args)).unwrap_or_default();
        OpenCall {
            key: key.to_owned(),
            name: name.map(str::to_owned),
            hint: args.filter(|_| self.options.activity).and_then(hint),
            what,
            background,
            ask: args
                .filter(|_| key == ASK_KEY)
                .and_then(|args| AskQuestion::from_args(call_id, args)),
        }
    }

    /// Forwards a call of one of the caller's tools; any other is refused before anything runs.
    pub(super) fn forward_call(&mut self, name: &str, args: Option<&RawValue>, sink: &mut dyn Sink) {
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
}

impl OpenCall {
    fn says_something(&self) -> bool {
        let names_something = match &self.what {
            CallKind::Shell(shell) => !shell.command.is_empty(),
            CallKind::Mcp { tool, .. } => !tool.is_empty(),
            CallKind::Other => false,
        };
        self.hint.is_some() || names_something || self.ask.is_some()
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| tool_name(&self.key))
    }
}

fn outcome<'a>(body: &'a ToolBody<'_>) -> &'a str {
    body.result.as_ref().map_or(OUTCOME_UNKNOWN, ToolResult::outcome)
}

fn activity<'a>(
    phase: Phase,
    call_id: &'a str,
    call: &'a OpenCall,
    body: &'a ToolBody<'_>,
    with_details: bool,
) -> Activity<'a> {
    let result = body.result.as_ref().filter(|_| phase == Phase::Completed);
    let ended = phase == Phase::Completed;
    let input = body
        .args
        .filter(|_| with_details)
        .and_then(|args| arguments(Some(args)));
    let output = body.raw_result.filter(|_| with_details && ended);
    let output = output.map(|output| detail(output.get()));
    let data = ActivityData {
        phase,
        call_id: Cow::Borrowed(call_id),
        name: Cow::Borrowed(call.name()),
        key: Cow::Borrowed(&call.key),
        hint: call.hint.as_deref().map(Cow::Borrowed),
        outcome: ended.then(|| Cow::Borrowed(outcome(body))),
        exit_code: result.and_then(ToolResult::exit_code),
        is_background: result.and_then(|result| result.is_background),
        reason: result.and_then(ToolResult::reason).map(Cow::Borrowed),
        input: input.map(|input| detail(input.get())),
        diff: output.as_ref().and_then(diff_of),
        output,
    };
    Activity { data }
}

/// Returns the arguments of a call; a legacy call writes them as JSON inside a string.
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
