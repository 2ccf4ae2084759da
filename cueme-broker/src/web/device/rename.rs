//! Names a device.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::list::DeviceShown;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::page_events::Notice;
use crate::web::state::Shared;

/// A name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NameBody {
    name: String,
}

impl Input for NameBody {}

/// Names a device.
pub(super) async fn rename(
    State(web): State<Shared>,
    visitor: Visitor,
    At(device_id): At<String>,
    Sent(body): Sent<NameBody>,
) -> Result<Json<DeviceShown>, ApiError> {
    let renamed = web
        .keys
        .rename_device(&device_id, body.name.trim().to_owned())
        .await?;
    let device = renamed.ok_or_else(|| ApiError::not_found("there is no such device"))?;
    web.page_events.notice(Notice::devices());
    Ok(Json(DeviceShown::new(&device, &visitor)))
}
