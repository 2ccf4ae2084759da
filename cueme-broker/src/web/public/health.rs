//! Answers a probe, which proves to its sender that the probed address leads here.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::web::door::outsider;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// The path of a probe.
pub(super) const PATH: &str = "/api/health/{nonce}";

/// The proof that only this broker can give.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Health {
    proof: String,
}

/// Answers a probe that this broker made.
pub(super) async fn health(
    State(web): State<Shared>,
    At(nonce): At<String>,
) -> Result<Json<Health>, ApiError> {
    let proof = web.broker.probes().proof(&nonce);
    // A caller without credentials learns nothing about the routes.
    proof.map(|proof| Json(Health { proof })).ok_or_else(outsider)
}
