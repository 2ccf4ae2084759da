//! Failures on cue: each call takes the next fault that was prepared for its method.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Too many calls; come back after so many seconds.
    RateLimited(u64),
    /// The service is down.
    Down,
}

/// The faults that were prepared.
#[derive(Debug, Default)]
pub struct Faults(Mutex<HashMap<String, VecDeque<Fault>>>);

impl Faults {
    /// Prepares faults for the next calls of a method.
    pub fn add(&self, method: &str, faults: &[Fault]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(method.to_owned()).or_default().extend(faults);
    }

    /// Says whether every prepared fault of a method has happened.
    pub fn are_over(&self, method: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(method).is_none_or(VecDeque::is_empty)
    }

    /// Takes the next fault of a method.
    pub(super) fn next(&self, method: &str) -> Option<Fault> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_mut(method)?.pop_front()
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        match self {
            Self::RateLimited(seconds) => {
                let body = json!({
                    "ok": false,
                    "error_code": 429,
                    "error": "ratelimited",
                    "description": format!("Too Many Requests: retry after {seconds}"),
                    "parameters": { "retry_after": seconds },
                });
                let headers = [(header::RETRY_AFTER, seconds.to_string())];
                (StatusCode::TOO_MANY_REQUESTS, headers, Json(body)).into_response()
            }
            Self::Down => (StatusCode::BAD_GATEWAY, "bad gateway").into_response(),
        }
    }
}
