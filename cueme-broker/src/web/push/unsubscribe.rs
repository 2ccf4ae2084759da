//! Ends the pushes to the requesting device.

use axum::extract::State;
use axum::http::StatusCode;

use super::state::device_of;
use crate::notify::setting_name;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::state::Shared;

/// Ends the subscription of the requesting device.
pub(super) async fn unsubscribe(State(web): State<Shared>, visitor: Visitor) -> Result<StatusCode, ApiError> {
    let name = setting_name(&device_of(&visitor)?);
    web.write(move |store, _| store.set(&name, "null")).await?;
    web.broker.push().changed();
    Ok(StatusCode::NO_CONTENT)
}
