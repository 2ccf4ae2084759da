//! Lines that are written in the contract's own shape, as custom CLIs do.

use std::borrow::Cow;

use protocol_spec::visible::quoted;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::result_line::read_usage;
use super::state::State;
use crate::contract::{Done, ErrorCode, ErrorData, Event, Item, Sink, supported_version};
use crate::cursor::cli::fault::reported_error;
use crate::cursor::cli::line::{Line, read_object};
use crate::cursor::cli::scalar::Scalar;

impl State {
    pub(super) fn contract_tool_call(&mut self, data: &RawValue, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            name: Scalar<'a>,
            #[serde(borrow, default)]
            args: Option<&'a RawValue>,
        }
        match read_object(data) {
            Some(Data {
                name: Scalar::Text(name),
                args,
            }) if !name.is_empty() => self.forward_call(&name, args, sink),
            _ => self.malformed("a tool_call event has no data.name", sink),
        }
    }

    pub(super) fn contract_delta(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            content: Scalar<'a>,
        }
        let data: Option<Data<'_>> = line.data.and_then(read_object);
        match data.and_then(|data| data.content.into_text()) {
            Some(text) if text.is_empty() => {}
            Some(text) => self.emit_text(text, sink),
            None => self.malformed("an assistant_delta event has no data.content", sink),
        }
    }

    pub(super) fn contract_usage(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        match line.data.and_then(read_usage) {
            Some(usage) => {
                self.forwarded += 1;
                sink.item(Item::Event(Event::Usage(usage)));
            }
            None => self.malformed("a usage event has no data.promptTokens", sink),
        }
    }

    pub(super) fn contract_done(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let done: Option<Done> = line.data.and_then(read_object);
        self.end_well(done.unwrap_or_default(), sink);
    }

    /// Checks the version; a CLI that names none is taken as it is.
    pub(super) fn protocol(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Default, Deserialize)]
        struct Data<'a> {
            #[serde(borrow, default)]
            version: Scalar<'a>,
        }
        let data: Data<'_> = line.data.and_then(read_object).unwrap_or_default();
        let version = match &data.version {
            Scalar::Absent | Scalar::Null => return,
            Scalar::Text(version) => version.to_string(),
            // A version written as a number means the same as one written as text.
            Scalar::Int(number) => format!("{number}.0"),
            Scalar::Float(number) => format!("{number:?}"),
            other => format!("{other:?}"),
        };
        if !supported_version(&version) {
            let message = format!(
                "the CLI speaks protocol version {}, which is not supported",
                quoted(&version)
            );
            self.malformed(&message, sink);
        }
    }

    /// An `error` line of the contract, or of one of the CLI's older forms.
    pub(super) fn reported(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Data<'a> {
            #[serde(borrow)]
            code: Scalar<'a>,
            #[serde(borrow)]
            message: Scalar<'a>,
        }
        let raw = line.data.or(line.error);
        let data: Data<'_> = raw.and_then(read_object).unwrap_or_default();
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

    fn malformed(&mut self, message: &str, sink: &mut dyn Sink) {
        self.fail(ErrorData::new(ErrorCode::Protocol, message), sink);
    }
}
