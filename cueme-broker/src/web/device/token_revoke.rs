//! Revokes a token.

use axum::extract::State;
use axum::http::StatusCode;

use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Revokes a token.
pub(super) async fn revoke_token(
    State(web): State<Shared>,
    At(token_id): At<String>,
) -> Result<StatusCode, ApiError> {
    if !web.page().revoke_token(&token_id).await? {
        return Err(ApiError::not_found("there is no such token"));
    }
    Ok(StatusCode::NO_CONTENT)
}
