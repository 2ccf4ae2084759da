//! The probes of orchestrators and load balancers: `/healthz` says that the process serves, `/readyz` that its store
//! works and that the process is not stopping.
//!
//! They need no token and look at no Host header, because probes have neither; they tell nothing else.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;

use super::state::Web;

const HEALTH_PATH: &str = "/healthz";
const READY_PATH: &str = "/readyz";

/// Says whether a request is a probe.
pub(super) fn is_probe(path: &str) -> bool {
    path == HEALTH_PATH || path == READY_PATH
}

/// Answers a probe.
pub(super) async fn probe(web: &Web, path: &str) -> Response<Body> {
    if path == HEALTH_PATH {
        return (StatusCode::OK, "ok\n").into_response();
    }
    // The engine and a reader both have to answer: one without the other is of no use.
    let is_ready =
        !web.broker.is_draining() && web.broker.status().await.is_ok() && web.newest_event().await.is_ok();
    if is_ready {
        (StatusCode::OK, "ready\n").into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response()
    }
}
