//! Lists the devices that are signed in.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::Device;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::state::Shared;
use crate::web::view::When;

/// A device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub(in crate::web) struct DeviceShown {
    device_id: String,
    name: String,
    created_at: When,
    seen_at: When,
    /// Whether it is the one that sent the request.
    current: bool,
}

/// All devices.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Devices {
    devices: Vec<DeviceShown>,
}

impl DeviceShown {
    pub(in crate::web) fn new(device: &Device, visitor: &Visitor) -> Self {
        Self {
            current: visitor.device_id() == Some(&device.device_id),
            device_id: device.device_id.clone(),
            name: device.name.clone(),
            created_at: device.created_at.into(),
            seen_at: device.seen_at.into(),
        }
    }
}

/// Lists the devices.
pub(super) async fn list(State(web): State<Shared>, visitor: Visitor) -> Result<Json<Devices>, ApiError> {
    web.keys.refresh().await?;
    let devices = web.keys.devices();
    Ok(Json(Devices {
        devices: devices
            .iter()
            .map(|device| DeviceShown::new(device, &visitor))
            .collect(),
    }))
}
