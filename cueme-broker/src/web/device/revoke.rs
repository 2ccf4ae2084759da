//! Revokes a device's access.

use axum::extract::State;
use axum::http::StatusCode;

use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::page_events::Notice;
use crate::web::state::Shared;

/// Revokes a device's access.
pub(super) async fn revoke(
    State(web): State<Shared>,
    At(device_id): At<String>,
) -> Result<StatusCode, ApiError> {
    if !web.keys.revoke_device(&device_id).await? {
        return Err(ApiError::not_found("there is no such device"));
    }
    web.broker.push().changed();
    web.page_events.notice(Notice::devices());
    Ok(StatusCode::NO_CONTENT)
}
