//! Errors between us and Cursor's cloud.

use std::fmt;
use std::time::Duration;

use protocol_spec::truncate::with_ellipsis;
use serde_json::{Value, json};
use thiserror::Error;

/// The limit on the details in a message; the result holds all of them.
const DETAILS_BYTES_MAX: usize = 500;

/// The request an error belongs to. Holds neither headers nor a body, since both carry secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestContext {
    /// The method.
    pub method: String,
    /// The path, without the host.
    pub path: String,
}

impl fmt::Display for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// An answer of the API that is an error.
#[derive(Debug, Clone, PartialEq)]
pub struct CursorApiError {
    /// The HTTP status.
    pub status: u16,
    /// The machine-readable code, where the body has one.
    pub code: Option<String>,
    /// The API's error message, or the meaning of the status.
    pub message: String,
    /// The whole body, parsed if it is JSON, with our own secrets removed.
    pub body: Value,
    /// The wait that the API asked for.
    pub retry_after: Option<Duration>,
    /// The request.
    pub context: RequestContext,
}

impl CursorApiError {
    /// Tells whether the agent or run does not exist. A page of something that stands before the API does not say so.
    pub fn is_not_found(&self) -> bool {
        self.status == 404 && self.body.is_object()
    }

    /// Returns what Cursor's support asks for.
    pub fn trace_id(&self) -> Option<&str> {
        let places = [&self.body["error"], &self.body];
        let names = ["traceId", "trace_id", "requestId", "request_id"];
        places
            .iter()
            .find_map(|place| names.iter().find_map(|name| place[*name].as_str()))
    }

    /// Returns the beginning of what the API says beyond its message.
    pub fn details(&self) -> Option<String> {
        let places = [&self.body["error"]["details"], &self.body["details"]];
        let details = places.into_iter().find(|details| !details.is_null())?;
        let text = details
            .as_str()
            .map_or_else(|| details.to_string(), str::to_owned);
        Some(with_ellipsis(&text, DETAILS_BYTES_MAX))
    }

    /// Returns everything that is known of it, for programs and logs.
    pub fn report(&self) -> Value {
        json!({
            "request": self.context.to_string(),
            "status": self.status,
            "code": self.code,
            "message": self.message,
            "traceId": self.trace_id(),
            "body": self.body,
        })
    }

    /// Tells whether the error has this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

impl fmt::Display for CursorApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed with status {}", self.context, self.status)?;
        if let Some(code) = &self.code {
            write!(f, " ({code})")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(details) = self.details() {
            write!(f, " ({details})")?;
        }
        match self.trace_id() {
            Some(trace_id) => write!(f, " [traceId {trace_id}]"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CursorApiError {}

/// Why a call did not succeed.
#[derive(Debug, Error)]
pub enum CloudError {
    /// The API answered with an error.
    #[error(transparent)]
    Api(Box<CursorApiError>),
    /// No answer came, or only a part of one.
    #[error("{context} got no answer: {reason}")]
    Network {
        /// The request.
        context: RequestContext,
        /// The error message.
        reason: String,
        /// Whether the request certainly never reached the API.
        is_unsent: bool,
    },
    /// The answer was not what the API promises.
    #[error("{context} answered something else than expected: {reason}")]
    Unexpected {
        /// The request.
        context: RequestContext,
        /// The reason.
        reason: String,
    },
    /// An agent may have been started under this id, and cannot be looked for now.
    #[error("{reason}; the agent may run as {agent_id}")]
    Unanswered {
        /// The id.
        agent_id: String,
        /// The error message.
        reason: String,
    },
    /// We kept to a limit of the API and did not ask.
    #[error("not asked: the list of repositories may be read again in {} s", .0.as_secs() + 1)]
    RateLimited(Duration),
    /// The base URL cannot be used.
    #[error("{0:?} is not a base URL: it must start with http:// or https://")]
    BaseUrl(String),
    /// The HTTP client could not be made.
    #[error("could not set up HTTPS: {0}")]
    Client(String),
    /// The generation of the API has no such call.
    #[error("{0} is not part of this version of the API")]
    Unsupported(&'static str),
}

impl CloudError {
    /// Returns the API's error, if it is one.
    pub fn api(&self) -> Option<&CursorApiError> {
        match self {
            CloudError::Api(error) => Some(error),
            _ => None,
        }
    }

    /// Tells whether trying again later may help.
    pub fn is_transient(&self) -> bool {
        match self {
            CloudError::Api(error) => error.status == 429 || error.status >= 500,
            CloudError::Network { .. } => true,
            _ => false,
        }
    }

    /// Tells whether the answer may come from something that stands between us and the API, such as a captive portal: it
    /// says nothing about the run.
    pub fn is_foreign(&self) -> bool {
        match self {
            CloudError::Api(error) => !error.body.is_object(),
            CloudError::Unexpected { .. } => true,
            _ => false,
        }
    }

    /// Tells whether a call that starts something may have been taken although it failed.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            CloudError::Network { is_unsent, .. } => !is_unsent,
            CloudError::Api(error) => error.status >= 500,
            CloudError::Unexpected { .. } | CloudError::Unanswered { .. } => true,
            _ => false,
        }
    }

    /// Returns what the user can do next, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self.api()?.status {
            401 | 403 => Some("check CURSOR_API_KEY: cueme cloud doctor"),
            404 => Some("the agent may have been deleted; launch a new one"),
            429 => Some("wait, then try again"),
            _ => None,
        }
    }
}
