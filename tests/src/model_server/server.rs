//! Serves the scripted model on a port of its own and keeps every request.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::dialect::{self, Action, Dialect};
use super::script::{Play, Step};

/// The reply to a request that is not the agent's own: a title, a summary, a check of the quota.
const ASIDE: &str = "ok";
const BODY_BYTES_MAX: usize = 64 << 20;

/// A request that a program made.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Its path.
    pub path: String,
    /// Its body; null when it had none.
    pub body: Value,
    /// Whether it took part in a script.
    pub played: bool,
}

impl ModelRequest {
    /// Says in a line what it was: its path and the tools it offered.
    pub fn summary(&self) -> String {
        match Dialect::of_path(&self.path) {
            Some(dialect) => format!("{} {:?}", self.path, dialect.read(&self.body).tools),
            None => self.path.clone(),
        }
    }
}

/// A running model. Stops when dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Shared,
    runtime: Option<Runtime>,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    plays: Vec<Play>,
    requests: Vec<ModelRequest>,
}

impl ModelServer {
    /// Starts on a free port of the loopback interface.
    ///
    /// # Panics
    ///
    /// Panics when there is none.
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap_or_else(|error| panic!("no runtime: {error}"));
        let shared = Shared::default();
        let app = Router::new()
            .fallback(serve)
            .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(shared.clone());
        let listener = runtime
            .block_on(TcpListener::bind(("127.0.0.1", 0)))
            .unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        runtime.spawn(async move {
            // Ends with the runtime.
            let _ = axum::serve(listener, app).await;
        });
        Self {
            address,
            shared,
            runtime: Some(runtime),
        }
    }

    /// Returns the address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Plays these steps in the conversation that mentions `marker`.
    pub fn play(&self, marker: &str, steps: Vec<Step>) -> Play {
        let play = Play::new(marker, steps);
        self.shared.lock().plays.push(play.clone());
        play
    }

    /// Returns every request so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.lock().requests.clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn act(&self, path: &str, body: &Value, dialect: Dialect) -> Action {
        let asked = dialect.read(body);
        let play = asked.tools.can_act().then(|| {
            self.lock()
                .plays
                .iter()
                .rev()
                .find(|play| play.is_of(&asked))
                .cloned()
        });
        let play = play.flatten();
        self.lock().requests.push(ModelRequest {
            path: path.to_owned(),
            body: body.clone(),
            played: play.is_some(),
        });
        play.map_or_else(|| Action::Say(ASIDE.to_owned()), |play| play.act(&asked))
    }
}

async fn serve(State(shared): State<Shared>, method: Method, uri: Uri, body: Bytes) -> Response {
    let path = uri.path();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let Some(dialect) = Dialect::of_path(path).filter(|_| method == Method::POST) else {
        shared.lock().requests.push(ModelRequest {
            path: path.to_owned(),
            body,
            played: false,
        });
        return dialect::beside(path).map_or_else(
            || (StatusCode::NOT_FOUND, axum::Json(json!({}))).into_response(),
            |answer| axum::Json(answer).into_response(),
        );
    };
    let action = shared.act(path, &body, dialect);
    let is_stream = path.contains(":stream") || body["stream"].as_bool().unwrap_or(false);
    if !is_stream {
        return axum::Json(dialect.whole(&action)).into_response();
    }
    let events = Body::from(dialect.stream(&action));
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}
