//! The state that the page begins with.

use axum::Json;
use axum::extract::State;
use protocol_spec::message::Status;
use protocol_spec::version;
use schemars::JsonSchema;
use serde::Serialize;

use super::agent::agent_cards;
use super::device::DeviceShown;
use super::door::{Visitor, Who};
use super::error::ApiError;
use super::policy::{PolicyShown, policies};
use super::state::{Shared, Web};
use super::view::{AgentCard, When};
use crate::broker::wall_clock;
use crate::settings::Settings;

/// The initial data of the page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "State")]
pub(super) struct Snapshot {
    epoch: String,
    newest_event: i64,
    now: When,
    version: &'static str,
    agents: Vec<AgentCard>,
    settings: Settings,
    policies: Vec<PolicyShown>,
    device: Option<DeviceShown>,
    secure_hint: Option<String>,
    storage_error: Option<String>,
    config_error: Option<String>,
}

/// Returns the initial data of the page.
pub(super) async fn state(State(web): State<Shared>, visitor: Visitor) -> Result<Json<Snapshot>, ApiError> {
    look(&web, &visitor).await.map(Json)
}

/// Collects the initial data of the page.
pub(super) async fn look(web: &Shared, visitor: &Visitor) -> Result<Snapshot, ApiError> {
    web.broker.engine().human_seen();
    // Both marks are taken before the state is read: a change meanwhile is sent twice, but never lost.
    let epoch = web.page_events.epoch();
    let newest_event = web.newest_event().await?;
    let agents = agent_cards(web, None).await?;
    let status = web.broker.status().await?;
    Ok(Snapshot {
        epoch,
        newest_event,
        now: wall_clock().into(),
        version: version::PROGRAM,
        agents,
        settings: web.settings.current(),
        policies: policies(web).await?,
        device: match &visitor.0 {
            Who::Device(device) => Some(DeviceShown::new(device, visitor)),
            Who::Human(_) | Who::Agent(_) | Who::Run(_) => None,
        },
        secure_hint: secure_hint(web),
        storage_error: status.storage_error,
        config_error: status.config_error,
    })
}

/// Describes the broker.
pub(super) async fn status(State(web): State<Shared>) -> Result<Json<Status>, ApiError> {
    Ok(Json(web.broker.status().await?))
}

/// Says what is missing for notifications and installation, when the page is served to other machines without TLS.
fn secure_hint(web: &Web) -> Option<String> {
    let config = web.broker.config();
    let is_remote = !web.site.address.ip().is_loopback();
    (is_remote && !config.web.has_https()).then(|| {
        format!(
            "browsers allow notifications and installation only over HTTPS: run `caddy reverse-proxy --from \
             cue.example.org --to {}` and set `[web] url = \"https://cue.example.org\"` in the configuration",
            web.site.address
        )
    })
}
