//! The instructions to connect each runtime.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::state::Shared;
use crate::guide::RuntimeGuide;

/// The instructions for every supported runtime.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Guide")]
pub(super) struct GuideShown {
    runtimes: Vec<RuntimeGuide>,
}

/// Returns what `cueme init` writes for each runtime.
pub(super) async fn guide(State(web): State<Shared>) -> Json<GuideShown> {
    Json(GuideShown {
        runtimes: (web.broker.guide())(),
    })
}
