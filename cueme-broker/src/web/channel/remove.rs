//! Removes a channel.

use axum::extract::State;
use axum::http::StatusCode;

use super::configure::configure;
use crate::notify::remove_channel;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Removes a channel, and its tokens if the broker stores them.
pub(super) async fn remove(State(web): State<Shared>, At(name): At<String>) -> Result<StatusCode, ApiError> {
    configure(&web, move |places| remove_channel(places, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
