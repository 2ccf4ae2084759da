//! The first generation of the API.

use std::time::{Duration, Instant};

use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::server::error;
use super::state::{Agent, Shared, is_active};
use super::webhook;

const WEBHOOK_SECRET_CHARS_MIN: usize = 32;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v0/agents", get(list).post(launch))
        .route("/v0/agents/{id}", get(agent).delete(delete))
        .route("/v0/agents/{id}/conversation", get(conversation))
        .route("/v0/agents/{id}/followup", post(follow_up))
        .route("/v0/agents/{id}/stop", post(stop))
        .route("/v0/me", get(me))
        .route("/v0/models", get(models))
        .route("/v0/repositories", get(repositories))
}

async fn launch(Extract(shared): Extract<Shared>, Json(body): Json<Value>) -> Response {
    let prompt = body["prompt"]["text"].as_str().unwrap_or_default().to_owned();
    if prompt.is_empty() || body["source"]["repository"].as_str().is_none_or(str::is_empty) {
        return error(
            400,
            "validation_error",
            "prompt.text and source.repository are required",
        );
    }
    if let Some(secret) = body["webhook"]["secret"].as_str()
        && secret.len() < WEBHOOK_SECRET_CHARS_MIN
    {
        return error(
            400,
            "validation_error",
            "webhook.secret must have at least 32 characters",
        );
    }
    let (id, run) = {
        let mut state = shared.lock();
        state.counter += 1;
        let id = format!("bc_fake{:04}", state.counter);
        let agent = Agent {
            id: id.clone(),
            launch: body,
            messages: Vec::new(),
            runs: Vec::new(),
            stale_reads: 0,
            lagging_reads: 0,
        };
        state.agents.insert(id.clone(), agent);
        (id.clone(), state.start_run(&id, &prompt))
    };
    if let Some(run) = run {
        webhook::schedule(&shared, &id, &run);
    }
    let mut answer = describe(&shared, &id);
    answer["status"] = json!("CREATING");
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn list(Extract(shared): Extract<Shared>) -> Json<Value> {
    let ids: Vec<String> = shared.lock().agents.keys().rev().cloned().collect();
    let agents: Vec<Value> = ids.iter().map(|id| describe(&shared, id)).collect();
    Json(json!({ "agents": agents }))
}

async fn agent(Extract(shared): Extract<Shared>, Path(id): Path<String>) -> Response {
    if !shared.lock().agents.contains_key(&id) {
        return not_found();
    }
    Json(describe(&shared, &id)).into_response()
}

async fn delete(Extract(shared): Extract<Shared>, Path(id): Path<String>) -> Response {
    match shared.lock().agents.remove(&id) {
        Some(_) => Json(json!({ "id": id })).into_response(),
        None => not_found(),
    }
}

async fn conversation(Extract(shared): Extract<Shared>, Path(id): Path<String>) -> Response {
    let delay = shared.lock().script.conversation_delay_ms;
    tokio::time::sleep(Duration::from_millis(delay)).await;
    let mut state = shared.lock();
    let Some(agent) = state.agents.get_mut(&id) else {
        return not_found();
    };
    let now = Instant::now();
    let mut known: Vec<_> = agent
        .messages
        .iter()
        .filter(|message| message.at <= now)
        .cloned()
        .collect();
    if agent.lagging_reads > 0 && known.last().is_some_and(|message| message.is_assistant) {
        agent.lagging_reads -= 1;
        known.pop();
    }
    let messages: Vec<_> = known
        .iter()
        .map(|message| {
            let kind = if message.is_assistant {
                "assistant_message"
            } else {
                "user_message"
            };
            json!({ "id": message.id, "type": kind, "text": message.text })
        })
        .collect();
    Json(json!({ "id": id, "messages": messages })).into_response()
}

async fn follow_up(
    Extract(shared): Extract<Shared>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    let prompt = body["prompt"]["text"].as_str().unwrap_or_default().to_owned();
    if prompt.is_empty() {
        return error(400, "validation_error", "prompt.text is required");
    }
    let run = shared.lock().start_run(&id, &prompt);
    match run {
        Some(run) => {
            webhook::schedule(&shared, &id, &run);
            Json(json!({ "id": id })).into_response()
        }
        None => not_found(),
    }
}

async fn stop(Extract(shared): Extract<Shared>, Path(id): Path<String>) -> Response {
    let mut state = shared.lock();
    let Some(run) = state.agents.get_mut(&id).and_then(Agent::latest_mut) else {
        return not_found();
    };
    if !run.is_active() {
        return error(409, "agent_not_running", "the agent is not running");
    }
    run.forced = Some("STOPPED".to_owned());
    Json(json!({ "id": id })).into_response()
}

async fn me() -> Json<Value> {
    Json(json!({
        "apiKeyName": "Fake key", "createdAt": "2026-01-01T00:00:00Z", "userEmail": "dev@acme.example",
    }))
}

async fn models() -> Json<Value> {
    Json(json!({ "models": ["composer-2", "claude-4.6-sonnet"] }))
}

async fn repositories(Extract(shared): Extract<Shared>) -> Response {
    let mut state = shared.lock();
    let recent = state
        .repository_reads
        .last()
        .is_some_and(|last| last.elapsed() < Duration::from_secs(60));
    if recent {
        return error(429, "rate_limit_exceeded", "one request a minute");
    }
    state.repository_reads.push(Instant::now());
    let repository = "https://github.com/acme/site";
    Json(json!({ "repositories": [{ "owner": "acme", "name": "site", "repository": repository }] }))
        .into_response()
}

fn describe(shared: &Shared, id: &str) -> Value {
    let mut state = shared.lock();
    let forced_read = state.script.reads.pop_front();
    let Some(agent) = state.agents.get_mut(id) else {
        return Value::Null;
    };
    let mut status = agent
        .latest()
        .map_or_else(|| "CREATING".to_owned(), super::state::Run::status);
    if agent.stale_reads > 0 {
        agent.stale_reads -= 1;
        status = "FINISHED".to_owned();
    }
    let status = forced_read.unwrap_or(status);
    let launch = &agent.launch;
    let mut target = json!({
        "url": format!("https://cursor.com/agents?id={id}"),
        "branchName": launch["target"]["branchName"].as_str().unwrap_or("cursor/fake-branch"),
        "autoCreatePr": launch["target"]["autoCreatePr"],
        "openAsCursorGithubApp": false,
    });
    let mut description = json!({
        "id": agent.id, "name": "Fake agent", "status": status, "source": launch["source"],
        "createdAt": "2026-10-01T12:00:00Z", "futureField": { "kept": true },
    });
    if !is_active(&status) {
        target["prUrl"] = json!("https://github.com/acme/site/pull/1");
        description["summary"] = json!("Did what was asked.");
    }
    description["target"] = target;
    description
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "Agent not found" }))).into_response()
}
