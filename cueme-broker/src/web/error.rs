//! Failures as HTTP: a status, a code for programs, words for people.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol_spec::message::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::attachments::{AttachmentError, UPLOAD_BYTES_MAX};
use crate::engine::{EngineError, storage_failure};
use crate::store::StoreError;

/// The reason why a request was refused.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    pub(super) problem: Box<Problem>,
    /// The seconds to wait before a retry.
    pub(super) retry_after: Option<u32>,
}

/// The body of every response with a status of 400 and above.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorBody<'a> {
    /// The error.
    error: &'a Problem,
}

/// An error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Problem {
    /// A short, stable name.
    pub(super) code: &'static str,
    /// The error message, as a lowercase fragment.
    pub(super) message: String,
    /// The next step to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Details, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Value>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            problem: Box::new(Problem {
                code,
                message: message.into(),
                hint: None,
                details: None,
            }),
            retry_after: None,
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(super) fn unknown_cue() -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown_cue", "there is no such question")
    }

    pub(super) fn unknown_agent() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown_agent",
            "no such agent has joined here",
        )
    }

    pub(super) fn too_large(bytes_max: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("more than {bytes_max} bytes"),
        )
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.problem.hint = Some(hint.into());
        self
    }

    pub(super) fn with_details(mut self, details: Value) -> Self {
        self.problem.details = Some(details);
        self
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, code) = describe(failure.code);
        let mut error = Self::new(status, code, failure.message);
        error.problem.hint = failure.hint;
        error
    }
}

fn describe(code: ErrorCode) -> (StatusCode, &'static str) {
    match code {
        ErrorCode::BadRequest => (StatusCode::BAD_REQUEST, "bad_request"),
        ErrorCode::Unsupported => (StatusCode::BAD_REQUEST, "unsupported"),
        ErrorCode::Ambiguous => (StatusCode::BAD_REQUEST, "ambiguous"),
        ErrorCode::InvalidAnswer => (StatusCode::BAD_REQUEST, "invalid_answer"),
        ErrorCode::UnknownAgent => (StatusCode::NOT_FOUND, "unknown_agent"),
        ErrorCode::UnknownCue => (StatusCode::NOT_FOUND, "unknown_cue"),
        ErrorCode::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        ErrorCode::AlreadyDecided => (StatusCode::CONFLICT, "already_decided"),
        ErrorCode::AlreadyReleased => (StatusCode::CONFLICT, "already_released"),
        ErrorCode::Stale => (StatusCode::CONFLICT, "stale_order"),
        ErrorCode::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        ErrorCode::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        ErrorCode::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
        ErrorCode::Storage => (StatusCode::SERVICE_UNAVAILABLE, "storage"),
        ErrorCode::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        storage_failure(&error).into()
    }
}

impl From<AttachmentError> for ApiError {
    fn from(error: AttachmentError) -> Self {
        let no_space = |hint: &str| {
            Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage", error.to_string()).with_hint(hint)
        };
        match error {
            AttachmentError::TooMany => no_space("`cueme purge` deletes old questions with their files"),
            AttachmentError::DiskFull => no_space("free some space, and send the file again"),
            AttachmentError::TooLarge => Self::too_large(UPLOAD_BYTES_MAX),
            AttachmentError::Empty => Self::bad_request(error.to_string()),
            AttachmentError::Storage(failure) => failure.into(),
            AttachmentError::Stopping(error) => error.into(),
        }
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", error.to_string())
            .with_hint("try again in a moment")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Json(ErrorBody { error: &self.problem });
        let mut response = (self.status, body).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
