//! Sends requests to Cursor's API: authenticated, bounded, repeated where that is safe.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, RequestBuilder, Response, redirect};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::error::{CloudError, CursorApiError, RequestContext};
use super::limiter::RepositoryLimiter;
use cloud_settings::{Redactor, Secret};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of an answer that are read.
const BODY_BYTES_MAX: usize = 32 << 20;
/// The most bytes of an error's body that are kept.
const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
/// The longest wait we accept from the API before we report the error instead.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);

/// The retry policy of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most attempts of a request.
    pub attempts_max: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub first_wait: Duration,
    /// The longest wait.
    pub wait_max: Duration,
    /// The timeout of one request; of a stream, until it begins.
    pub request_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            attempts_max: 5,
            first_wait: Duration::from_millis(500),
            wait_max: Duration::from_secs(20),
            request_timeout: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    fn wait(&self, attempt: u32) -> Duration {
        self.first_wait
            .saturating_mul(1 << attempt.min(16))
            .min(self.wait_max)
    }
}

/// One call of the API.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// Whether sending the call twice does no more than sending it once.
    pub(super) is_idempotent: bool,
    pub(super) idempotency_key: Option<String>,
    /// Secrets in the body, which must not come back in an error.
    pub(super) secrets: Vec<&'a Secret>,
}

impl Call<'_> {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Call {
            method: Method::GET,
            path: path.into(),
            body: None,
            is_idempotent: true,
            idempotency_key: None,
            secrets: Vec::new(),
        }
    }

    /// A call that starts something: repeated only if it certainly was not taken the first time.
    pub(super) fn post(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::POST,
            body: Some(body),
            is_idempotent: false,
            idempotency_key: Some(uuid::Uuid::now_v7().to_string()),
            ..Call::get(path)
        }
    }

    /// A call that ends something, which can be done any number of times.
    pub(super) fn stop(path: impl Into<String>) -> Self {
        Call {
            method: Method::POST,
            ..Call::get(path)
        }
    }

    fn context(&self) -> RequestContext {
        RequestContext {
            method: self.method.to_string(),
            path: self.path.clone(),
        }
    }
}

/// A client of one account, with the limit of listing repositories.
#[derive(Debug)]
pub(super) struct HttpClient {
    client: Client,
    base_url: String,
    api_key: Secret,
    retry: RetryPolicy,
    limiter: Mutex<RepositoryLimiter>,
}

impl HttpClient {
    pub(super) fn new(api_key: Secret, base_url: &str, retry: RetryPolicy) -> Result<Self, CloudError> {
        let base_url = base_url.trim_end_matches('/').to_owned();
        if !base_url.starts_with("https://") && !base_url.starts_with("http://") {
            return Err(CloudError::BaseUrl(base_url));
        }
        let client = crate::http::client()
            .connect_timeout(CONNECT_TIMEOUT)
            // An API that redirects is not the API, and the key must not follow it elsewhere.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("cueme/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| CloudError::Client(error.without_url().to_string()))?;
        Ok(HttpClient {
            client,
            base_url,
            api_key,
            retry,
            limiter: Mutex::default(),
        })
    }

    /// Makes a call and reads its answer.
    pub(super) async fn call<T: DeserializeOwned>(&self, call: &Call<'_>) -> Result<T, CloudError> {
        let body = self.repeat(call).await?;
        serde_json::from_slice(&body).map_err(|error| unexpected(call, &error.to_string()))
    }

    /// Lists the repositories' addresses.
    pub(super) async fn repositories(&self, path: &str) -> Result<Vec<String>, CloudError> {
        let now = Timestamp::now().as_millisecond();
        let leave = self
            .limiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .acquire(now);
        leave.map_err(CloudError::RateLimited)?;
        // One request only: repeating it would break the limit that was just kept.
        let call = Call {
            is_idempotent: false,
            ..Call::get(path)
        };
        let answer: Value = self.call(&call).await?;
        Ok(repositories(&answer))
    }

    /// Opens a stream, without retries: the reader of the stream knows better when to retry.
    pub(super) async fn open_stream(
        &self,
        path: &str,
        last_event_id: Option<&str>,
    ) -> Result<Response, CloudError> {
        let call = Call::get(path);
        let mut request = self.request(&call).header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = match timeout(self.retry.request_timeout, request.send()).await {
            Ok(sent) => sent.map_err(|error| network_error(&call, error))?,
            Err(_) => {
                return Err(CloudError::Network {
                    context: call.context(),
                    reason: "the stream did not begin in time".to_owned(),
                    is_unsent: false,
                });
            }
        };
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.api_error(&call, response).await)
        }
    }

    async fn repeat(&self, call: &Call<'_>) -> Result<Vec<u8>, CloudError> {
        let mut attempt = 0;
        loop {
            let error = match self.send(call).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            let Some(wait) = self.next_wait(call, &error, attempt) else {
                return Err(error);
            };
            tracing::debug!(call = %call.context(), %error, ?wait, "calling again");
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// Returns how long to wait before the call is made again; none if it must not be.
    fn next_wait(&self, call: &Call<'_>, error: &CloudError, attempt: u32) -> Option<Duration> {
        if attempt + 1 >= self.retry.attempts_max {
            return None;
        }
        let (is_safe, asked_for) = match error {
            CloudError::Api(error) if error.status == 429 => (true, error.retry_after),
            CloudError::Api(error) if error.status >= 500 => (call.is_idempotent, error.retry_after),
            CloudError::Network { is_unsent, .. } => (call.is_idempotent || *is_unsent, None),
            _ => (false, None),
        };
        let wait = asked_for.unwrap_or_else(|| self.retry.wait(attempt));
        (is_safe && wait <= RETRY_AFTER_MAX).then_some(wait)
    }

    async fn send(&self, call: &Call<'_>) -> Result<Vec<u8>, CloudError> {
        let request = self.request(call).timeout(self.retry.request_timeout);
        let response = request.send().await.map_err(|error| network_error(call, error))?;
        if !response.status().is_success() {
            return Err(self.api_error(call, response).await);
        }
        read_body(response, BODY_BYTES_MAX)
            .await
            .map_err(|reason| CloudError::Network {
                context: call.context(),
                reason,
                is_unsent: false,
            })
    }

    fn request(&self, call: &Call<'_>) -> RequestBuilder {
        let url = format!("{}{}", self.base_url, call.path);
        let mut request = self
            .client
            .request(call.method.clone(), url)
            .bearer_auth(self.api_key.expose());
        if let Some(key) = &call.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        match &call.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    async fn api_error(&self, call: &Call<'_>, response: Response) -> CloudError {
        let status = response.status();
        let retry_after = retry_after(response.headers(), Timestamp::now());
        let bytes = read_body(response, ERROR_BODY_BYTES_MAX)
            .await
            .unwrap_or_default();
        let mut body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        self.redactor(call).json(&mut body);
        let message = error_message(&body)
            .or_else(|| status.canonical_reason().map(str::to_owned))
            .unwrap_or_else(|| "no reason given".to_owned());
        CloudError::Api(Box::new(CursorApiError {
            status: status.as_u16(),
            code: error_code(&body),
            message,
            body,
            retry_after,
            context: call.context(),
        }))
    }

    fn redactor(&self, call: &Call<'_>) -> Redactor {
        let mut redactor = Redactor::default();
        redactor.add(&self.api_key);
        call.secrets.iter().for_each(|secret| redactor.add(secret));
        redactor
    }
}

/// Describes an answer that is not what the API promises.
pub(super) fn unexpected(call: &Call<'_>, reason: &str) -> CloudError {
    CloudError::Unexpected {
        context: call.context(),
        reason: reason.to_owned(),
    }
}

/// Reads the repositories' addresses out of an answer of either generation.
fn repositories(answer: &Value) -> Vec<String> {
    let items = answer["repositories"]
        .as_array()
        .or_else(|| answer["items"].as_array());
    let address = |item: &Value| {
        let text = item["repository"].as_str().or_else(|| item["url"].as_str())?;
        Some(text.to_owned())
    };
    items
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(address)
        .collect()
}

fn network_error(call: &Call<'_>, error: reqwest::Error) -> CloudError {
    let is_unsent = error.is_connect() || error.is_builder();
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    CloudError::Network {
        context: call.context(),
        reason,
        is_unsent,
    }
}

async fn read_body(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| error.without_url().to_string())?
    {
        if body.len() + chunk.len() > bytes_max {
            return Err(format!("the answer is longer than {bytes_max} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn error_code(body: &Value) -> Option<String> {
    let error = body.get("error")?;
    let code = error.get("code").or_else(|| body.get("code"))?;
    code.as_str().map(str::to_owned)
}

/// Finds the words in an error, which each generation of the API puts elsewhere.
fn error_message(body: &Value) -> Option<String> {
    let places = [&body["error"]["message"], &body["error"], &body["message"], body];
    places
        .iter()
        .find_map(|place| place.as_str())
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// Reads how long to wait, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    let seconds = date.as_second() - now.as_second();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn a_wait_is_read_in_seconds_or_as_a_date() {
        let now: Timestamp = "2026-10-01T12:00:00Z".parse().unwrap();
        let wait = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            retry_after(&headers, now)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            wait("Thu, 01 Oct 2026 12:00:30 GMT"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(wait("Thu, 01 Oct 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(0), Duration::from_millis(500));
        assert_eq!(policy.wait(2), Duration::from_secs(2));
        assert_eq!(policy.wait(30), Duration::from_secs(20));
    }

    #[test]
    fn the_words_of_an_error_are_found_in_each_of_its_forms() {
        let cases = [
            (
                serde_json::json!({"error": {"code": "agent_busy", "message": "busy"}}),
                "busy",
                Some("agent_busy"),
            ),
            (serde_json::json!({"error": "Not found"}), "Not found", None),
            (serde_json::json!({"error": "x", "code": "c"}), "x", Some("c")),
            (serde_json::json!({"message": "m"}), "m", None),
            (serde_json::json!("plain text"), "plain text", None),
        ];
        for (body, message, code) in cases {
            assert_eq!(error_message(&body).as_deref(), Some(message));
            assert_eq!(error_code(&body).as_deref(), code);
        }
    }
}
