//! Exchanges the one-time token of a prompt for the token of its run.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::callback::{ExchangeReply, ExchangeRequest};
use crate::runs::Refusal;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

impl Input for ExchangeRequest {
    const BYTES_MAX: usize = 4 * 1024;
}

/// Exchanges a one-time token.
pub(super) async fn exchange(
    State(web): State<Shared>,
    Sent(request): Sent<ExchangeRequest>,
) -> Result<Json<ExchangeReply>, ApiError> {
    match web.broker.exchange(request).await {
        Ok(reply) => Ok(Json(reply)),
        Err(Refusal::Token(reason)) => Err(ApiError::new(StatusCode::UNAUTHORIZED, "bad_token", reason)),
        Err(Refusal::Failure(failure)) => Err(failure.into()),
    }
}
