//! HTTP requests of surfaces, and the classification of their failures.

use std::time::Duration;

use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use thiserror::Error;

use crate::notify::channel::{MissingSecret, Reference};

/// The most bytes of a reply that is read. Long lists of updates are paged by the APIs.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The reason why a surface could not do something. Addresses may hold secrets and are never part of it.
#[derive(Debug, Error)]
pub(crate) enum Trouble {
    /// A temporary failure.
    #[error("{why}")]
    Later {
        /// The error.
        why: String,
        /// The pause that the server asked for.
        retry_after: Option<Duration>,
    },
    /// A permanent failure.
    #[error("{0}")]
    Refused(String),
    /// The recipient does not exist any more.
    #[error("the subscription has ended")]
    Gone,
    /// The configuration refers to a missing secret.
    #[error(transparent)]
    NotSet(#[from] MissingSecret),
}

impl Trouble {
    /// Returns a temporary failure.
    pub(super) fn later(why: impl Into<String>) -> Self {
        Self::Later {
            why: why.into(),
            retry_after: None,
        }
    }

    /// Classifies a status.
    pub(super) fn of_status(status: StatusCode, retry_after: Option<Duration>, said: &str) -> Self {
        let why = format!("the server said {status}: {said}");
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            Self::Later { why, retry_after }
        } else {
            Self::Refused(why)
        }
    }
}

/// A server's response.
#[derive(Debug)]
pub(super) struct Replied {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Value,
}

/// Sends a request and reads the response as JSON; a body that is not JSON is `null`.
pub(super) async fn send(request: RequestBuilder) -> Result<Replied, Trouble> {
    let response = request.send().await.map_err(unreachable)?;
    let (status, retry_after) = (response.status(), retry_after(&response));
    let body = read(response, REPLY_BYTES_MAX).await?;
    Ok(Replied {
        status,
        retry_after,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

/// Reads a body of at most `bytes_max` bytes.
async fn read(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > bytes_max {
            return Err(Trouble::Refused(format!(
                "the reply is longer than {bytes_max} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Fetches a file of at most `bytes_max` bytes.
pub(super) async fn download(request: RequestBuilder, bytes_max: usize) -> Result<Vec<u8>, Trouble> {
    let response = request.send().await.map_err(unreachable)?;
    if !response.status().is_success() {
        return Err(Trouble::of_status(response.status(), None, "no file"));
    }
    read(response, bytes_max).await
}

/// Returns the address of an API, without a slash at its end.
pub(super) fn base(url: &Reference) -> Result<String, Trouble> {
    Ok(url.resolve()?.trim_end_matches('/').to_owned())
}

/// Returns an address with these parameters.
pub(super) fn with_query(address: &str, query: &[(&str, &str)]) -> Result<Url, Trouble> {
    Url::parse_with_params(address, query)
        .map_err(|error| Trouble::Refused(format!("the url is wrong: {error}")))
}

/// Reads `Retry-After` in seconds.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(reqwest::header::RETRY_AFTER)?;
    value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

pub(super) fn unreachable(error: reqwest::Error) -> Trouble {
    Trouble::later(error.without_url().to_string())
}
