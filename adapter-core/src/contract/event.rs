//! The events the adapter gives to its callers.
//!
//! Text borrows from the line it came from where it can, so that forwarding a delta copies nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ErrorCode;

/// The finish reason of a turn that ended by itself.
pub const FINISH_STOP: &str = "stop";

/// One event of the contract: `{"type": …, "data": {…}}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A piece of the assistant's text; pieces concatenate without a separator.
    AssistantDelta {
        /// The new text.
        content: Cow<'a, str>,
    },
    /// A call of a registered tool, to be executed by the caller.
    ToolCall {
        /// The registered name.
        name: Cow<'a, str>,
        /// The arguments exactly as written.
        args: Cow<'a, RawValue>,
    },
    /// Tokens used by the turn.
    Usage(Usage),
    /// The turn failed; nothing follows.
    Error(ErrorData),
    /// The turn ended; nothing follows.
    Done(Done),
}

impl Event<'_> {
    /// Returns the event detached from the line it was read from.
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Event::AssistantDelta { content } => Event::AssistantDelta {
                content: Cow::Owned(content.into_owned()),
            },
            Event::ToolCall { name, args } => Event::ToolCall {
                name: Cow::Owned(name.into_owned()),
                args: Cow::Owned(args.into_owned()),
            },
            Event::Usage(usage) => Event::Usage(usage),
            Event::Error(error) => Event::Error(error),
            Event::Done(done) => Event::Done(done),
        }
    }

    /// Reports whether this event ends the turn.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Event::Error(_) | Event::Done(_))
    }
}

/// Tokens used by a turn.
///
/// Cursor's input count excludes what came from its cache, so the cache numbers are kept: without them the
/// prompt looks smaller than it was by orders of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input tokens that were not cached.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Output tokens.
    #[serde(default)]
    pub completion_tokens: u64,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
}

/// Why a turn failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorData {
    /// The kind of failure.
    pub code: ErrorCode,
    /// The error message, redacted.
    pub message: String,
    /// The next step for the human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl ErrorData {
    /// Builds an error with the standard remedy of its code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let remedy = code.remedy().map(str::to_owned);
        Self {
            code,
            message: message.into(),
            remedy,
        }
    }
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// Why the model stopped.
    #[serde(default = "finish_stop")]
    pub finish_reason: String,
    /// Set when the process ended well but never said that the turn was complete.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl Default for Done {
    fn default() -> Self {
        Self {
            finish_reason: finish_stop(),
            truncated: false,
        }
    }
}

fn finish_stop() -> String {
    FINISH_STOP.to_owned()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(event: &Event<'_>) -> String {
        serde_json::to_string(event).unwrap()
    }

    #[test]
    fn events_have_exactly_the_shape_of_the_contract() {
        let args = RawValue::from_string(r#"{"command":"pwd"}"#.into()).unwrap();
        assert_eq!(
            json(&Event::AssistantDelta {
                content: "partial text".into()
            }),
            r#"{"type":"assistant_delta","data":{"content":"partial text"}}"#
        );
        assert_eq!(
            json(&Event::ToolCall {
                name: "exec".into(),
                args: Cow::Owned(args)
            }),
            r#"{"type":"tool_call","data":{"name":"exec","args":{"command":"pwd"}}}"#
        );
        assert_eq!(
            json(&Event::Usage(Usage {
                prompt_tokens: 123,
                completion_tokens: 456,
                ..Usage::default()
            })),
            r#"{"type":"usage","data":{"promptTokens":123,"completionTokens":456}}"#
        );
        assert_eq!(
            json(&Event::Done(Done::default())),
            r#"{"type":"done","data":{"finishReason":"stop"}}"#
        );
        let error = ErrorData {
            code: ErrorCode::ModelAuth,
            message: "token expired".into(),
            remedy: None,
        };
        assert_eq!(
            json(&Event::Error(error)),
            r#"{"type":"error","data":{"code":"MODEL_AUTH_ERROR","message":"token expired"}}"#
        );
    }

    #[test]
    fn a_written_event_reads_back_as_the_same_event() {
        let lines = [
            r#"{"type":"assistant_delta","data":{"content":"a\"b"}}"#,
            r#"{"type":"tool_call","data":{"name":"exec","args":{"n":12345678901234567890}}}"#,
            r#"{"type":"usage","data":{"promptTokens":6,"completionTokens":1,"cacheReadTokens":9,"cacheWriteTokens":0}}"#,
            r#"{"type":"done","data":{"finishReason":"stop","truncated":true}}"#,
        ];
        for line in lines {
            let event: Event<'_> = serde_json::from_str(line).unwrap();
            assert_eq!(json(&event), line);
        }
    }
}
