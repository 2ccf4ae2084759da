//! The events of one run, as the second generation of the API streams them.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;

use super::error::{CloudError, RequestContext};
use super::sse::{SseEvent, SseParser};

/// The timeout of a silent stream, which sends not even a heartbeat.
const SILENCE_MAX: Duration = Duration::from_secs(90);

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// The id to resume after, where the event has one.
    pub id: Option<String>,
    /// The kind of event.
    pub kind: RunEventKind,
}

/// The kind of an event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEventKind {
    /// The run has this status now. Sent again at the start of each stream.
    Status(String),
    /// The agent said something; a piece of a longer text.
    Assistant(String),
    /// The agent thought something.
    Thinking,
    /// A tool was started or is done.
    ToolCall {
        /// The id that ties start and end together.
        call_id: String,
        /// The tool.
        name: String,
        /// The status of the call.
        status: String,
    },
    /// The run is over. The status is to be read again before it is believed.
    Result(Value),
    /// The run or the stream failed.
    Error(Value),
    /// Nothing more will come.
    Done,
    /// A sign of life, or something we have no use for.
    Other,
}

/// An open stream.
pub struct RunStream {
    response: Response,
    context: RequestContext,
    parser: SseParser,
    ready: VecDeque<SseEvent>,
}

impl fmt::Debug for RunStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunStream({})", self.context)
    }
}

impl RunStream {
    pub(super) fn new(response: Response, context: RequestContext) -> Self {
        RunStream {
            response,
            context,
            parser: SseParser::default(),
            ready: VecDeque::new(),
        }
    }

    /// Returns the next event; none if the stream was closed.
    ///
    /// # Errors
    ///
    /// Fails if the connection breaks or goes silent.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, CloudError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(run_event(event)));
            }
            let chunk = match tokio::time::timeout(SILENCE_MAX, self.response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => return Err(self.broken(error.without_url().to_string())),
                Err(_) => return Err(self.broken("the stream went silent".to_owned())),
            };
            let events = self
                .parser
                .push(&chunk)
                .map_err(|error| self.broken(error.to_string()))?;
            self.ready.extend(events);
        }
    }

    fn broken(&self, reason: String) -> CloudError {
        CloudError::Network {
            context: self.context.clone(),
            reason,
            is_unsent: false,
        }
    }
}

fn run_event(event: SseEvent) -> RunEvent {
    let data: Value = serde_json::from_str(&event.data).unwrap_or(Value::Null);
    let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let kind = match event.event.as_str() {
        "status" if !text("status").is_empty() => RunEventKind::Status(text("status")),
        "assistant" => RunEventKind::Assistant(text("text")),
        "thinking" => RunEventKind::Thinking,
        "tool_call" => RunEventKind::ToolCall {
            call_id: text("callId"),
            name: text("name"),
            status: text("status"),
        },
        "result" => RunEventKind::Result(data),
        "error" => RunEventKind::Error(data),
        "done" => RunEventKind::Done,
        _ => RunEventKind::Other,
    };
    RunEvent { id: event.id, kind }
}
