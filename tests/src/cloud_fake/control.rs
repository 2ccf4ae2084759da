//! Control from outside the process.

use axum::extract::State as Extract;
use axum::routing::{get, post};
use axum::{Json, Router};

use super::script::Script;
use super::state::{LoggedRequest, Shared};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/_fake/script", post(set_script))
        .route("/_fake/log", get(log))
}

async fn set_script(Extract(shared): Extract<Shared>, Json(script): Json<Script>) {
    shared.lock().script = script;
}

async fn log(Extract(shared): Extract<Shared>) -> Json<Vec<LoggedRequest>> {
    Json(shared.lock().log.clone())
}
