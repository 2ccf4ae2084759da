//! Answers a probe: whoever made it learns that the address they tried leads here.

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

/// What only this broker knows.
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
    // A caller that carries nothing does not learn what is here.
    proof.map(|proof| Json(Health { proof })).ok_or_else(outsider)
}
