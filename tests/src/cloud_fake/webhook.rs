//! Sends the webhooks of the first generation.

use std::time::Instant;

use adapter_core::cursor::cloud::Secret;
use cueme_broker::callback::sign;
use serde_json::{Value, json};

use super::script::Webhooks;
use super::state::{Run, Shared};

/// Sends the webhook of a run's end to its subscriber, when it has come.
pub(super) fn schedule(shared: &Shared, agent_id: &str, run: &Run) {
    let (mode, launch) = {
        let state = shared.lock();
        let Some(agent) = state.agents.get(agent_id) else {
            return;
        };
        (state.script.webhooks, agent.launch.clone())
    };
    let (Some(url), Some(secret)) = (
        launch["webhook"]["url"].as_str(),
        launch["webhook"]["secret"].as_str(),
    ) else {
        return;
    };
    // Cursor tells only of these two.
    let Some((at, status)) = run
        .end()
        .filter(|(_, status)| matches!(status.as_str(), "FINISHED" | "ERROR"))
    else {
        return;
    };
    let (url, secret) = (url.to_owned(), secret.to_owned());
    let body = body(agent_id, &status, &launch);
    let delivery_id = format!("delivery-{}", run.id);
    tokio::spawn(async move {
        tokio::time::sleep_until(tokio::time::Instant::from_std(at.max(Instant::now()))).await;
        let (times, key) = match mode {
            Webhooks::Lost => return,
            Webhooks::Normal => (1, secret),
            Webhooks::Duplicated => (2, secret),
            Webhooks::Forged => (1, "x".repeat(32)),
        };
        for _ in 0..times {
            deliver(&url, &key, &delivery_id, &body).await;
        }
    });
}

fn body(agent_id: &str, status: &str, launch: &Value) -> String {
    json!({
        "event": "statusChange",
        "timestamp": "2026-10-01T12:00:00.000Z",
        "id": agent_id,
        "status": status,
        "source": launch["source"],
        "target": {
            "url": format!("https://cursor.com/agents?id={agent_id}"),
            "branchName": "cursor/fake-branch",
            "prUrl": "https://github.com/acme/site/pull/1",
        },
        "summary": "Did what was asked.",
    })
    .to_string()
}

async fn deliver(url: &str, key: &str, delivery_id: &str, body: &str) {
    let request = adapter_core::http::client()
        .build()
        .expect("a client")
        .post(url)
        .header("content-type", "application/json")
        .header("user-agent", "Cursor-Agent-Webhook/1.0")
        .header("x-webhook-signature", sign(&Secret::new(key), body.as_bytes()))
        .header("x-webhook-id", delivery_id)
        .header("x-webhook-event", "statusChange")
        .body(body.to_owned());
    // Whether it arrives is for the test to see.
    let _ = request.send().await;
}
