//! How runtimes are connected.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::state::Shared;
use crate::guide::RuntimeGuide;

/// How every supported runtime is connected.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Guide")]
pub(super) struct GuideShown {
    runtimes: Vec<RuntimeGuide>,
}

/// Tells what `cueme init` writes for each runtime.
pub(super) async fn guide(State(web): State<Shared>) -> Json<GuideShown> {
    Json(GuideShown {
        runtimes: (web.broker.guide())(),
    })
}
