//! Pushes a test to the requesting device.

use axum::extract::State;
use axum::http::StatusCode;

use super::state::subscribed;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::state::Shared;

/// Pushes a test to the requesting device.
pub(super) async fn test(State(web): State<Shared>, visitor: Visitor) -> Result<StatusCode, ApiError> {
    let subscription = subscribed(&web, &visitor).await?;
    let sent = web.broker.push().test(&web.broker, &subscription).await;
    sent.map_err(|trouble| ApiError::new(StatusCode::BAD_GATEWAY, "not_sent", trouble.to_string()))?;
    Ok(StatusCode::NO_CONTENT)
}
