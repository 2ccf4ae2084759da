//! Extractors of handlers: bodies with limits on size and time, queries, names in paths; all with our own errors.

use std::str::FromStr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use protocol_spec::id::{AgentId, CueId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

use super::error::ApiError;

/// The largest body unless a type says otherwise.
pub(super) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// The longest pause in receiving a body.
const PROGRESS_PATIENCE: Duration = Duration::from_secs(8);
/// The longest time for receiving a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// The lowest rate of a large body, in bytes a second.
const BODY_RATE_MIN: u64 = 64 * 1024;

/// A parsed JSON body.
pub(super) trait Input: DeserializeOwned + JsonSchema {
    /// The largest body of this kind.
    const BYTES_MAX: usize = BODY_BYTES_MAX;
}

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

impl Input for Empty {}

/// Takes a JSON body.
pub(super) struct Sent<T>(pub(super) T);

impl<S: Send + Sync, T: Input> FromRequest<S> for Sent<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .map(|kind| kind.as_bytes());
        // A form of another site can send text and forms, but not this.
        if !kind.is_some_and(is_json) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported",
                "the body is not announced as JSON",
            )
            .with_hint("send `Content-Type: application/json`"));
        }
        let bytes = collect(request.into_body(), T::BYTES_MAX).await?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| ApiError::bad_request(format!("the body is wrong: {error}")))
    }
}

fn is_json(kind: &[u8]) -> bool {
    let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// Reads a whole body, unless it is too large or too slow.
pub(super) async fn collect(body: Body, bytes_max: usize) -> Result<Bytes, ApiError> {
    let mut collected = Vec::new();
    receive(body, bytes_max, |chunk| {
        collected.extend_from_slice(&chunk);
        Ok(())
    })
    .await?;
    Ok(collected.into())
}

/// Passes a body on in chunks, unless it is too large or too slow.
pub(super) async fn receive(
    mut body: Body,
    bytes_max: usize,
    mut take: impl FnMut(Bytes) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let allowance = Duration::from_secs(bytes_max as u64 / BODY_RATE_MIN);
    let deadline = Instant::now() + BODY_PATIENCE + allowance;
    let mut received = 0;
    loop {
        let patience = deadline.min(Instant::now() + PROGRESS_PATIENCE);
        let frame = match timeout_at(patience, body.frame()).await {
            Err(_) => {
                return Err(ApiError::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "slow",
                    "the body did not arrive in time",
                ));
            }
            Ok(None) => return Ok(()),
            Ok(Some(Err(error))) => {
                return Err(ApiError::bad_request(format!("the body broke off: {error}")));
            }
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(chunk) = frame.into_data() {
            received += chunk.len();
            if received > bytes_max {
                return Err(ApiError::too_large(bytes_max));
            }
            take(chunk)?;
        }
    }
}

/// Takes the query.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(query)| Self(query))
            .map_err(|error| ApiError::bad_request(error.body_text()))
    }
}

/// Takes the one name in the path.
pub(super) struct At<T>(pub(super) T);

/// Something that is named in a path.
pub(super) trait Named: Sized {
    fn named(name: &str) -> Result<Self, ApiError>;
}

impl Named for CueId {
    fn named(name: &str) -> Result<Self, ApiError> {
        Self::from_str(name).map_err(|_| ApiError::unknown_cue())
    }
}

impl Named for AgentId {
    fn named(name: &str) -> Result<Self, ApiError> {
        Self::from_str(name).map_err(|_| ApiError::unknown_agent())
    }
}

impl Named for String {
    fn named(name: &str) -> Result<Self, ApiError> {
        Ok(name.to_owned())
    }
}

impl<A: Named, B: Named> Named for (A, B) {
    fn named(name: &str) -> Result<Self, ApiError> {
        let (first, second) = name
            .split_once('/')
            .ok_or_else(|| ApiError::not_found("nothing is here"))?;
        Ok((A::named(first)?, B::named(second)?))
    }
}

impl<S: Send + Sync, T: Named> FromRequestParts<S> for At<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // Names are joined by a character that none of them can contain.
        let Path(names) = Path::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::not_found("nothing is here"))?;
        let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        T::named(&names.join("/")).map(Self)
    }
}
