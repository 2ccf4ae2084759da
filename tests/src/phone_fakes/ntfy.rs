//! An ntfy server, as far as publishing, deleting and following topics go.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::faults::Faults;
use super::server::Server;
use crate::eventually;

/// Limits of the service.
const MESSAGE_BYTES_MAX: usize = 4096;
const ACTIONS_MAX: usize = 3;
/// The keepalive interval of a silent subscription.
const KEEPALIVE: Duration = Duration::from_secs(45);

/// A server.
#[derive(Debug)]
pub struct Ntfy {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    messages: Mutex<Vec<Value>>,
    news: Notify,
    faults: Faults,
}

impl Default for Ntfy {
    fn default() -> Self {
        Self::start()
    }
}

impl Ntfy {
    /// Starts it.
    pub fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let routes = Router::new()
            .route("/", post(publish_json))
            .route("/{topic}", post(publish_text))
            .route("/{topic}/json", get(follow))
            .route("/{topic}/{id}", delete(withdraw))
            .with_state(Arc::clone(&shared));
        Self {
            server: Server::start(routes),
            shared,
        }
    }

    /// Returns the section of the configuration that uses it.
    pub fn section(&self) -> String {
        format!(
            "[[notify]]\nkind = \"ntfy\"\nurl = \"{}/desk\"\nreplies = \"desk-replies\"\nperson = \"Bob\"\nafter = \"0\"\n",
            self.server.url()
        )
    }

    /// Returns where failures are prepared: `publish`, `follow`, `delete`.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Returns the notifications that stand on phones now.
    pub fn notifications(&self) -> Vec<Value> {
        let all = lock(&self.shared).clone();
        let is_deleted = |id: &Value| {
            all.iter()
                .any(|other| other["event"] == "message_delete" && other["sequence_id"] == *id)
        };
        let standing = all
            .iter()
            .filter(|message| message["topic"] == "desk" && message["event"] == "message");
        standing
            .filter(|message| !is_deleted(&message["id"]))
            .cloned()
            .collect()
    }

    /// Returns how many notifications were published.
    pub fn published(&self) -> usize {
        lock(&self.shared)
            .iter()
            .filter(|message| message["topic"] == "desk" && message["event"] == "message")
            .count()
    }

    /// Waits for a notification with these words.
    #[track_caller]
    pub fn wait_for(&self, words: &str) -> Value {
        eventually(&format!("a notification with {words:?}"), || {
            self.notifications().into_iter().find(|message| {
                message["message"]
                    .as_str()
                    .is_some_and(|text| text.contains(words))
            })
        })
    }

    /// Somebody presses a button, as the app does: it makes the request that the button says.
    #[track_caller]
    pub fn press(&self, notification: &Value, label: &str) {
        let actions = notification["actions"].as_array().cloned().unwrap_or_default();
        let action = actions.iter().find(|action| action["label"] == label);
        let action = action.unwrap_or_else(|| panic!("no button {label:?} in {notification}"));
        assert_eq!(
            (&action["action"], &action["method"]),
            (&json!("http"), &json!("POST"))
        );
        let url = action["url"].as_str().unwrap_or_default();
        let topic = url
            .strip_prefix(&self.server.url())
            .unwrap_or_else(|| panic!("{url} is elsewhere"));
        self.publish(
            topic.trim_start_matches('/'),
            action["body"].as_str().unwrap_or_default(),
        );
    }

    /// Somebody publishes to a topic.
    pub fn publish(&self, topic: &str, text: &str) {
        add(
            &self.shared,
            json!({ "topic": topic, "event": "message", "message": text }),
        );
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Vec<Value>> {
    shared.messages.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(shared: &Shared, mut message: Value) -> Value {
    let mut messages = lock(shared);
    message["id"] = json!(format!("id{:08}", messages.len()));
    message["time"] = json!(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs()
    );
    messages.push(message.clone());
    shared.news.notify_waiters();
    message
}

async fn publish_json(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    if let Some(fault) = shared.faults.next("publish") {
        return fault.into_response();
    }
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else {
        return refuse("invalid request: request body must be valid JSON");
    };
    let text = message["message"].as_str().unwrap_or_default();
    if message["topic"].as_str().is_none_or(str::is_empty) || text.len() > MESSAGE_BYTES_MAX {
        return refuse("invalid request: message too large or no topic");
    }
    if message["actions"]
        .as_array()
        .is_some_and(|actions| actions.len() > ACTIONS_MAX)
    {
        return refuse("invalid request: actions invalid, only 3 actions allowed");
    }
    message["event"] = json!("message");
    axum::Json(add(&shared, message)).into_response()
}

async fn publish_text(State(shared): State<Arc<Shared>>, Path(topic): Path<String>, body: Bytes) -> Response {
    let text = String::from_utf8_lossy(&body);
    axum::Json(add(
        &shared,
        json!({ "topic": topic, "event": "message", "message": text }),
    ))
    .into_response()
}

async fn withdraw(State(shared): State<Arc<Shared>>, Path((topic, id)): Path<(String, String)>) -> Response {
    if let Some(fault) = shared.faults.next("delete") {
        return fault.into_response();
    }
    let event = json!({ "topic": topic, "event": "message_delete", "sequence_id": id });
    axum::Json(add(&shared, event)).into_response()
}

#[derive(serde::Deserialize)]
struct Since {
    since: Option<String>,
}

async fn follow(
    State(shared): State<Arc<Shared>>,
    Path(topic): Path<String>,
    Query(Since { since }): Query<Since>,
) -> Response {
    if let Some(fault) = shared.faults.next("follow") {
        return fault.into_response();
    }
    let from = match since.as_deref() {
        None => lock(&shared).len(),
        Some(since) => first_after(&lock(&shared), since),
    };
    let stream = futures_util::stream::unfold((shared, topic, from), |(shared, topic, next)| async move {
        let (line, next) = next_line(&shared, &topic, next).await;
        Some((Ok::<_, std::io::Error>(line), (shared, topic, next)))
    });
    Body::from_stream(stream).into_response()
}

/// Waits for the next line of a topic, and returns it with the place behind it.
async fn next_line(shared: &Shared, topic: &str, mut next: usize) -> (String, usize) {
    loop {
        let news = shared.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        let found = lock(shared).get(next).cloned();
        if let Some(message) = found {
            next += 1;
            if message["topic"] == topic {
                return (format!("{message}\n"), next);
            }
        } else if tokio::time::timeout(KEEPALIVE, news).await.is_err() {
            return ("{\"id\":\"ka\",\"event\":\"keepalive\"}\n".to_owned(), next);
        }
    }
}

/// A time in seconds, or the id of the last message that was seen.
fn first_after(messages: &[Value], since: &str) -> usize {
    if let Ok(time) = since.parse::<u64>() {
        return messages
            .iter()
            .position(|message| message["time"].as_u64().is_some_and(|at| at >= time))
            .unwrap_or(messages.len());
    }
    messages
        .iter()
        .position(|message| message["id"] == since)
        .map_or(0, |place| place + 1)
}

fn refuse(error: &str) -> Response {
    (
        StatusCode::BAD_REQUEST,
        axum::Json(json!({ "code": 40001, "http": 400, "error": error })),
    )
        .into_response()
}
