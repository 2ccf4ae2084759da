//! Revokes a device's access.

use axum::extract::State;
use axum::http::StatusCode;

use crate::web::bell::Notice;
use crate::web::error::ApiError;
use crate::web::extract::At;
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
    web.bell.notice(Notice::devices());
    Ok(StatusCode::NO_CONTENT)
}
