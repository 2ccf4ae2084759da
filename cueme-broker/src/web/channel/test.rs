//! Sends a test to a channel.

use axum::extract::State;
use axum::http::StatusCode;

use super::list::find;
use crate::notify::{Notice, Sender};
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Sends a test.
pub(super) async fn test(State(web): State<Shared>, At(name): At<String>) -> Result<StatusCode, ApiError> {
    let channel = find(&web, &name)?;
    let sent = Sender::default().send(&channel, &Notice::test()).await;
    sent.map_err(|error| ApiError::new(StatusCode::BAD_GATEWAY, "not_sent", error.to_string()))?;
    Ok(StatusCode::NO_CONTENT)
}
