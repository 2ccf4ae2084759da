//! Failures as HTTP: a status, a code for programs, words for people.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol_spec::message::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::{EngineError, storage_failure};
use crate::store::StoreError;

/// Why a request was refused.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    pub(super) problem: Box<Problem>,
    /// After how many seconds to come back.
    pub(super) retry_after: Option<u32>,
}

/// What every answer with a status of 400 and above holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorBody<'a> {
    /// What went wrong.
    error: &'a Problem,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Problem {
    /// A short, stable name.
    pub(super) code: &'static str,
    /// What went wrong, as a lowercase fragment.
    pub(super) message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// More about it, for programs.
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
