//! The second generation of the API.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_core::Stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::script::{StreamEnd, StreamScript};
use super::server::error;
use super::state::{Agent, Run, Shared, is_active};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v1/agents", post(create))
        .route("/v1/agents/{id}", get(agent))
        .route("/v1/agents/{id}/runs", post(create_run))
        .route("/v1/agents/{id}/runs/{run}", get(run))
        .route("/v1/agents/{id}/runs/{run}/stream", get(stream))
        .route("/v1/agents/{id}/runs/{run}/cancel", post(cancel))
        .route("/v1/me", get(me))
        .route("/v1/models", get(models))
        .route("/v1/repositories", get(repositories))
}

async fn create(Extract(shared): Extract<Shared>, Json(body): Json<Value>) -> Response {
    let prompt = body["prompt"]["text"].as_str().unwrap_or_default().to_owned();
    if prompt.is_empty() {
        return error(400, "validation_error", "prompt.text is required");
    }
    let mut state = shared.lock();
    state.counter += 1;
    let minted = format!("bc-00000000-0000-4000-8000-{:012}", state.counter);
    let id = body["agentId"].as_str().map_or(minted, str::to_owned);
    if state.agents.contains_key(&id) {
        return error(409, "agent_id_conflict", "an agent with this id exists");
    }
    let agent = Agent {
        id: id.clone(),
        launch: body,
        messages: Vec::new(),
        runs: Vec::new(),
        stale_reads: 0,
        lagging_reads: 0,
    };
    state.agents.insert(id.clone(), agent);
    let run = state.start_run(&id, &prompt);
    let answer = json!({
        "agent": describe_agent(&id, None),
        "run": run.map(|run| describe_run(&id, &run, "CREATING")),
    });
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn agent(Extract(shared): Extract<Shared>, Path(id): Path<String>) -> Response {
    let state = shared.lock();
    match state.agents.get(&id) {
        Some(agent) => Json(describe_agent(&id, agent.latest())).into_response(),
        None => error(404, "agent_not_found", "no such agent"),
    }
}

async fn create_run(
    Extract(shared): Extract<Shared>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    let mut state = shared.lock();
    let Some(agent) = state.agents.get(&id) else {
        return error(404, "agent_not_found", "no such agent");
    };
    if agent.latest().is_some_and(Run::is_active) {
        return error(409, "agent_busy", "the agent has an active run");
    }
    let prompt = body["prompt"]["text"].as_str().unwrap_or_default().to_owned();
    let run = state.start_run(&id, &prompt);
    let run = run.map(|run| describe_run(&id, &run, "CREATING"));
    (StatusCode::CREATED, Json(json!({ "run": run }))).into_response()
}

async fn run(Extract(shared): Extract<Shared>, Path((id, run_id)): Path<(String, String)>) -> Response {
    let mut state = shared.lock();
    let forced_read = state.script.reads.pop_front();
    match find_run(&state.agents, &id, &run_id) {
        Some(run) => {
            let status = forced_read.unwrap_or_else(|| run.status());
            Json(describe_run(&id, run, &status)).into_response()
        }
        None => error(404, "run_not_found", "no such run"),
    }
}

async fn cancel(Extract(shared): Extract<Shared>, Path((id, run_id)): Path<(String, String)>) -> Response {
    let mut state = shared.lock();
    let agent = state.agents.get_mut(&id);
    let Some(run) = agent.and_then(|agent| agent.runs.iter_mut().find(|run| run.id == run_id)) else {
        return error(404, "run_not_found", "no such run");
    };
    if !run.is_active() {
        return error(409, "run_not_cancellable", "the run is over");
    }
    run.forced = Some("CANCELLED".to_owned());
    Json(json!({ "id": run_id })).into_response()
}

async fn me() -> Json<Value> {
    Json(json!({ "apiKeyName": "Fake key", "userEmail": "dev@acme.example" }))
}

async fn models() -> Json<Value> {
    Json(json!({ "items": [{ "id": "composer-2" }, { "id": "claude-4.6-sonnet" }] }))
}

async fn repositories() -> Json<Value> {
    Json(json!({ "items": [{ "url": "https://github.com/acme/site" }] }))
}

async fn stream(
    Extract(shared): Extract<Shared>,
    Path((id, run_id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let (run, script, extra) = {
        let mut state = shared.lock();
        let script = state.script.streams.pop_front();
        let Some(run) = find_run(&state.agents, &id, &run_id).cloned() else {
            return error(404, "run_not_found", "no such run");
        };
        (run, script, state.script.stream_events.clone())
    };
    match script.map(|script| script.end) {
        Some(StreamEnd::Expired) => return error(410, "stream_expired", "the stream is gone"),
        Some(StreamEnd::BadEventId) => return error(400, "invalid_last_event_id", "unknown event id"),
        _ => {}
    }
    let after = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .map(str::to_owned);
    let events = numbered_events(&run, extra);
    let skip = match &after {
        Some(after) => match events.iter().position(|(id, _, _)| id == after) {
            Some(position) => position + 1,
            None => return error(400, "invalid_last_event_id", "unknown event id"),
        },
        None => 0,
    };
    let (sender, receiver) = mpsc::unbounded_channel();
    let rest = events.into_iter().skip(skip).collect();
    tokio::spawn(send_events(shared, id, run, script, rest, sender));
    let mut response = Response::new(Body::from_stream(ByteStream(receiver)));
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(
        "x-cursor-stream-retention-seconds",
        HeaderValue::from_static("3600"),
    );
    response
}

type NumberedEvent = (String, String, Value);

/// Makes the events of a run: what the script adds, then the answer in pieces.
fn numbered_events(run: &Run, extra: Vec<(String, Value)>) -> Vec<NumberedEvent> {
    let mut events = extra;
    let middle = run
        .answer
        .char_indices()
        .nth(run.answer.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    let (first, second) = run.answer.split_at(middle);
    for piece in [first, second] {
        events.push(("assistant".to_owned(), json!({ "text": piece })));
        // The real stream tells of each event a second time, in another form, under the same id.
        events.push((
            "interaction_update".to_owned(),
            json!({ "type": "text-delta", "text": piece }),
        ));
    }
    let mut number = 0;
    events
        .into_iter()
        .map(|(name, data)| {
            if name != "interaction_update" {
                number += 1;
            }
            (format!("1713033005000-{number}"), name, data)
        })
        .collect()
}

async fn send_events(
    shared: Shared,
    agent_id: String,
    run: Run,
    script: Option<StreamScript>,
    events: Vec<NumberedEvent>,
    sender: mpsc::UnboundedSender<io::Result<Bytes>>,
) {
    let status = json!({ "runId": run.id, "status": run.status() });
    send(&sender, None, "status", &status);
    for (index, (id, name, data)) in events.iter().enumerate() {
        if script.is_some_and(|script| index >= script.events) {
            break;
        }
        send(&sender, Some(id), name, data);
    }
    if let Some(script) = script {
        if script.end == StreamEnd::Break {
            // The sent events must leave before the connection breaks.
            tokio::time::sleep(Duration::from_millis(30)).await;
            let _ = sender.send(Err(io::Error::other("broken by the script")));
        }
        return;
    }
    let end = loop {
        let current = find_run(&shared.lock().agents, &agent_id, &run.id).cloned();
        match current.map(|run| run.status()) {
            Some(status) if is_active(&status) => {
                send(&sender, None, "heartbeat", &json!({}));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Some(status) => break status,
            None => return,
        }
    };
    let result = json!({
        "runId": run.id, "status": end, "text": run.answer, "durationMs": 10, "git": git(),
    });
    send(&sender, Some("1713033009999-0"), "result", &result);
    send(&sender, Some("1713033009999-1"), "done", &json!({}));
}

fn send(sender: &mpsc::UnboundedSender<io::Result<Bytes>>, id: Option<&str>, name: &str, data: &Value) {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // The receiver may be gone.
    let _ = sender.send(Ok(Bytes::from(format!("{id}event: {name}\ndata: {data}\n\n"))));
}

fn find_run<'a>(
    agents: &'a std::collections::BTreeMap<String, Agent>,
    id: &str,
    run_id: &str,
) -> Option<&'a Run> {
    agents.get(id)?.runs.iter().find(|run| run.id == run_id)
}

fn describe_agent(id: &str, latest: Option<&Run>) -> Value {
    json!({
        "id": id, "name": "Fake agent", "status": "ACTIVE", "env": { "type": "cloud" },
        "url": format!("https://cursor.com/agents/{id}"),
        "createdAt": "2026-10-01T12:00:00Z", "updatedAt": "2026-10-01T12:00:00Z",
        "latestRunId": latest.map(|run| &run.id),
    })
}

fn describe_run(agent_id: &str, run: &Run, status: &str) -> Value {
    let mut description = json!({
        "id": run.id, "agentId": agent_id, "status": status,
        "createdAt": "2026-10-01T12:00:00Z", "updatedAt": "2026-10-01T12:00:00Z",
    });
    if !is_active(status) {
        description["result"] = json!(run.answer);
        description["durationMs"] = json!(10);
        description["git"] = git();
    }
    description
}

fn git() -> Value {
    json!({ "branches": [{
        "repoUrl": "github.com/acme/site",
        "branch": "cursor/fake-branch",
        "prUrl": "https://github.com/acme/site/pull/1",
    }] })
}

/// Bytes as a body's stream.
pub(super) struct ByteStream(mpsc::UnboundedReceiver<io::Result<Bytes>>);

impl ByteStream {
    /// A stream that breaks at once.
    pub(super) fn failing() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let _ = sender.send(Err(io::Error::other("broken by the script")));
        ByteStream(receiver)
    }
}

impl Stream for ByteStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
