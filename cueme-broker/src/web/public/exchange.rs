//! The exchange of a one-time token, which stood in a prompt, for the token of its run, which never does.

use crate::callback::ExchangeRequest;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runs::Refusal;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// The request of an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ExchangeBody {
    /// The one-time token.
    token: String,
    /// The agent's id of its run.
    run_id: Option<String>,
}

impl Input for ExchangeBody {
    const BYTES_MAX: usize = 4 * 1024;
}

/// The reply to an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchanged {
    /// For `Authorization: Bearer`, together with `X-Cueme-Run-Id`.
    token: String,
    token_type: &'static str,
    /// The lifetime, in seconds; it ends earlier with the run.
    expires_in: u64,
    agent_id: String,
    run_id: String,
}

/// Exchanges a one-time token.
pub(super) async fn exchange(
    State(web): State<Shared>,
    Sent(body): Sent<ExchangeBody>,
) -> Result<Json<Exchanged>, ApiError> {
    let request = ExchangeRequest {
        token: body.token,
        run_id: body.run_id,
    };
    match web.broker.exchange(request).await {
        Ok(reply) => Ok(Json(Exchanged {
            token: reply.token,
            token_type: reply.token_type,
            expires_in: reply.expires_in,
            agent_id: reply.agent_id,
            run_id: reply.run_id,
        })),
        Err(Refusal::Token(reason)) => Err(ApiError::new(StatusCode::UNAUTHORIZED, "bad_token", reason)),
        Err(Refusal::Failure(failure)) => Err(failure.into()),
    }
}
