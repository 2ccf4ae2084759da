//! The script of the stand-in, and its faults.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The course of one agent's runs and of the requests about them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Script {
    /// The statuses of a run with the time, in milliseconds after its start, when each begins.
    pub timeline: Vec<(u64, String)>,
    /// Statuses that the next reads show, whatever the time.
    pub reads: VecDeque<String>,
    /// The number of reads after a follow-up that still show the old status.
    pub stale_reads: usize,
    /// The agent's answer to each prompt, in order; the last answer repeats.
    pub answers: Vec<String>,
    /// The delay of a read of the conversation, in milliseconds.
    pub conversation_delay_ms: u64,
    /// The number of reads of the conversation after the end that do not show the last answer yet.
    pub conversation_lag: usize,
    /// The delivery of webhooks.
    pub webhooks: Webhooks,
    /// Requests that fail. Each fails the first request that fits it.
    pub failures: Vec<Failure>,
    /// The course of each connection to a stream; connections beyond the list have no faults.
    pub streams: VecDeque<StreamScript>,
    /// Extra events of a stream before the answer, as name and data.
    pub stream_events: Vec<(String, Value)>,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            timeline: vec![
                (0, "CREATING".into()),
                (30, "RUNNING".into()),
                (120, "FINISHED".into()),
            ],
            reads: VecDeque::new(),
            stale_reads: 0,
            answers: vec!["All done.".into()],
            conversation_delay_ms: 0,
            conversation_lag: 0,
            webhooks: Webhooks::Normal,
            failures: Vec::new(),
            streams: VecDeque::new(),
            stream_events: vec![
                ("thinking".into(), json!({"text": "hm"})),
                (
                    "tool_call".into(),
                    json!({"callId": "call-1", "name": "read_file", "status": "running", "args": {}}),
                ),
                (
                    "tool_call".into(),
                    json!({"callId": "call-1", "name": "read_file", "status": "completed", "args": {}}),
                ),
            ],
        }
    }
}

impl Script {
    /// A run that takes this course.
    pub fn timeline(steps: &[(u64, &str)]) -> Self {
        let timeline = steps
            .iter()
            .map(|(at, status)| (*at, (*status).to_owned()))
            .collect();
        Script {
            timeline,
            ..Script::default()
        }
    }

    /// A run that never ends by itself.
    pub fn endless() -> Self {
        Script::timeline(&[(0, "RUNNING")])
    }

    /// Adds a failure.
    pub fn fail(mut self, method: &str, path_part: &str, times: usize, reply: Reply) -> Self {
        let (method, path_part) = (method.to_owned(), path_part.to_owned());
        self.failures.push(Failure {
            method,
            path_part,
            times,
            reply,
        });
        self
    }
}

/// The delivery of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Webhooks {
    /// Sent once, signed.
    Normal,
    /// Never sent.
    Lost,
    /// Sent twice under one id.
    Duplicated,
    /// Sent with a signature of another key.
    Forged,
}

/// Requests that fail.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failure {
    /// The method.
    pub method: String,
    /// A part of the path.
    pub path_part: String,
    /// The number of times.
    pub times: usize,
    /// The reply.
    pub reply: Reply,
}

/// A failing answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// An error of the API.
    Status {
        /// The status.
        status: u16,
        /// The code in the body.
        code: String,
        /// The seconds in `Retry-After`.
        retry_after: Option<String>,
    },
    /// An error that repeats the request's body, as careless servers do.
    Echo {
        /// The status.
        status: u16,
    },
    /// No answer: the connection is closed. The server performs the request nevertheless.
    Drop,
    /// No answer, however long one waits.
    Hang {
        /// Whether what was asked is done nevertheless.
        is_done: bool,
    },
    /// The server performs the request, and then fails like this.
    Done(Box<Reply>),
    /// An answer that is not what was promised.
    Garbage,
    /// This body with this status.
    Body {
        /// The status.
        status: u16,
        /// The body.
        body: Value,
    },
}

impl Reply {
    /// An error of the API.
    pub fn status(status: u16, code: &str) -> Self {
        Reply::Status {
            status,
            code: code.to_owned(),
            retry_after: None,
        }
    }

    /// The page of something that stands before the API.
    pub fn page(status: u16) -> Self {
        let body = Value::String("<html>sign in to the network</html>".to_owned());
        Reply::Body { status, body }
    }

    /// Replies so after the request was carried out.
    pub fn done(self) -> Self {
        Reply::Done(Box::new(self))
    }

    /// An error that asks to wait.
    pub fn wait(seconds: &str) -> Self {
        let code = "rate_limit_exceeded".to_owned();
        Reply::Status {
            status: 429,
            code,
            retry_after: Some(seconds.to_owned()),
        }
    }
}

/// The course of one connection to a stream.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct StreamScript {
    /// The number of events before its end.
    pub events: usize,
    /// Its end.
    pub end: StreamEnd,
}

/// The end of a connection to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEnd {
    /// In the middle of the air.
    Break,
    /// Properly, but too early.
    Close,
    /// Before it starts: the events are no longer kept.
    Expired,
    /// Before it starts: the id to resume after is unknown.
    BadEventId,
}
