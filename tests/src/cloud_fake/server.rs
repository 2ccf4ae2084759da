//! Serves the stand-in and does what every request needs: logging, failing on cue, checking the key.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State as Extract};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::script::{Reply, Script};
use super::state::{API_KEY, LoggedRequest, Shared};
use super::{control, v0, v1};

const BODY_BYTES_MAX: usize = 4 << 20;

/// A running stand-in. Stops when dropped.
#[derive(Debug)]
pub struct FakeCloud {
    base_url: String,
    shared: Shared,
    task: JoinHandle<()>,
}

impl Drop for FakeCloud {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl FakeCloud {
    /// Starts on a port of the system's choice.
    pub async fn start(script: Script) -> Self {
        Self::start_on(SocketAddr::from(([127, 0, 0, 1], 0)), script)
            .await
            .expect("a free port")
    }

    /// Starts on this address.
    ///
    /// # Errors
    ///
    /// Fails if the address cannot be used.
    pub async fn start_on(address: SocketAddr, script: Script) -> std::io::Result<Self> {
        let shared = Shared::default();
        shared.lock().script = script;
        let listener = TcpListener::bind(address).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let api = Router::new()
            .merge(v0::routes())
            .merge(v1::routes())
            .layer(from_fn_with_state(shared.clone(), guard));
        let app = api.merge(control::routes()).with_state(shared.clone());
        let task = tokio::spawn(async move {
            // The server ends with the process or with this task.
            let _ = axum::serve(listener, app).await;
        });
        Ok(FakeCloud {
            base_url,
            shared,
            task,
        })
    }

    /// Returns the address.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Changes what happens from now on.
    pub fn set_script(&self, script: Script) {
        self.shared.lock().script = script;
    }

    /// Returns every request so far.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.shared.lock().log.clone()
    }

    /// Returns how many requests had this method and a path that ends so.
    pub fn count(&self, method: &str, path_end: &str) -> usize {
        self.log()
            .iter()
            .filter(|request| request.method == method && request.path.ends_with(path_end))
            .count()
    }

    /// Returns the bodies of requests with this method and a path that ends so.
    pub fn bodies(&self, method: &str, path_end: &str) -> Vec<Value> {
        let fits = |request: &LoggedRequest| request.method == method && request.path.ends_with(path_end);
        self.log()
            .into_iter()
            .filter(|request| fits(request))
            .map(|request| request.body)
            .collect()
    }

    /// Returns the ids of all agents.
    pub fn agents(&self) -> Vec<String> {
        self.shared.lock().agents.keys().cloned().collect()
    }

    /// Deletes an agent.
    pub fn delete_agent(&self, id: &str) {
        self.shared.lock().agents.remove(id);
    }
}

/// An answer that is an error, in the form of the second generation, which clients must read in both.
pub(super) fn error(status: u16, code: &str, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (
        status,
        axum::Json(json!({ "error": { "code": code, "message": message } })),
    )
        .into_response()
}

async fn guard(Extract(shared): Extract<Shared>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_BYTES_MAX).await else {
        return error(413, "validation_error", "too large");
    };
    let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
    let headers = parts.headers.iter().map(|(name, value)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    let logged = LoggedRequest {
        method: method.clone(),
        path: path.clone(),
        headers: headers.collect(),
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    };
    shared.lock().log.push(logged);
    let failure = shared.lock().next_failure(&method, &path);
    if parts.headers.get("authorization") != Some(&bearer()) {
        return error(401, "unauthorized", "invalid API key");
    }
    match failure {
        None => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Some(Reply::Drop) => {
            let _ = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            broken_response()
        }
        Some(Reply::Done(reply)) => {
            let _ = next
                .run(Request::from_parts(parts, Body::from(bytes.clone())))
                .await;
            failing_response(&reply, &bytes)
        }
        Some(Reply::Hang { is_done }) => {
            if is_done {
                let _ = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            }
            std::future::pending().await
        }
        Some(reply) => failing_response(&reply, &bytes),
    }
}

fn bearer() -> HeaderValue {
    HeaderValue::from_str(&format!("Bearer {API_KEY}")).expect("a header value")
}

fn failing_response(reply: &Reply, body: &Bytes) -> Response {
    match reply {
        Reply::Status {
            status,
            code,
            retry_after,
        } => {
            let mut response = error(*status, code, "the script says so");
            if let Some(wait) = retry_after
                .as_ref()
                .and_then(|wait| HeaderValue::from_str(wait).ok())
            {
                response.headers_mut().insert("retry-after", wait);
            }
            response
        }
        Reply::Echo { status } => {
            let message = format!("invalid request: {}", String::from_utf8_lossy(body));
            error(*status, "validation_error", &message)
        }
        Reply::Body { status, body } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, axum::Json(body.clone())).into_response()
        }
        Reply::Garbage => "<html>not the API</html>".into_response(),
        Reply::Drop | Reply::Hang { .. } | Reply::Done(_) => broken_response(),
    }
}

/// An answer that promises a body and breaks off.
fn broken_response() -> Response {
    let failing = super::v1::ByteStream::failing();
    let mut response = Response::new(Body::from_stream(failing));
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("application/json"));
    response
}
