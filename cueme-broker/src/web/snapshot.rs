//! The inbox at a glance: every agent, what it asks, and since when.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use protocol_spec::message::Status;
use protocol_spec::version;
use schemars::JsonSchema;
use serde::Serialize;

use super::devices::DeviceShown;
use super::door::{Visitor, Who};
use super::error::ApiError;
use super::policies::{PolicyShown, policies};
use super::state::{Shared, Web};
use super::view::{AgentCard, CueCard, When};
use crate::broker::wall_clock;
use crate::presence::Presence;
use crate::settings::Settings;
use crate::store::{CueRow, Reader, StoreError};

/// Everything the page begins with.
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

/// All agents.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Agents {
    agents: Vec<AgentCard>,
}

/// All questions that can be answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenCues {
    cues: Vec<CueCard>,
}

/// Returns everything the page begins with.
pub(super) async fn state(State(web): State<Shared>, visitor: Visitor) -> Result<Json<Snapshot>, ApiError> {
    look(&web, &visitor).await.map(Json)
}

/// Puts together everything the page begins with.
pub(super) async fn look(web: &Shared, visitor: &Visitor) -> Result<Snapshot, ApiError> {
    web.broker.engine().human_seen();
    // Both marks are taken before the state is read: what happens meanwhile is told once more, never lost.
    let epoch = web.bell.epoch();
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
            Who::Human(_) | Who::Agent(_) => None,
        },
        secure_hint: secure_hint(web),
        storage_error: status.storage_error,
        config_error: status.config_error,
    })
}

/// Returns all agents.
pub(super) async fn agents(State(web): State<Shared>) -> Result<Json<Agents>, ApiError> {
    let agents = agent_cards(&web, None).await?;
    Ok(Json(Agents { agents }))
}

/// Returns all questions that can be answered, oldest first.
pub(super) async fn open_cues(State(web): State<Shared>) -> Result<Json<OpenCues>, ApiError> {
    let presence = Presence::read(web.broker.engine()).await?;
    let rows = web.read(|reader| reader.answerable(None)).await?;
    let cues = rows.into_iter().map(|row| CueCard::new(row, &presence)).collect();
    Ok(Json(OpenCues { cues }))
}

/// Describes the broker.
pub(super) async fn status(State(web): State<Shared>) -> Result<Json<Status>, ApiError> {
    Ok(Json(web.broker.status().await?))
}

/// Puts together all agents, or one.
pub(super) async fn agent_cards(web: &Web, agent: Option<AgentId>) -> Result<Vec<AgentCard>, ApiError> {
    let presence = Presence::read(web.broker.engine()).await?;
    web.read(move |reader| cards(reader, &presence, agent.as_ref()))
        .await
}

fn cards(
    reader: &dyn Reader,
    presence: &Presence,
    agent: Option<&AgentId>,
) -> Result<Vec<AgentCard>, StoreError> {
    let pending = reader.pending(agent)?;
    let (mut open, mut damaged) = (by_agent(pending.answerable), by_agent(pending.damaged));
    let mut last: HashMap<AgentId, CueRow> = reader
        .newest_of_agents(agent)?
        .into_iter()
        .map(|cue| (cue.agent_id.clone(), cue))
        .collect();
    let now = wall_clock();
    let card = |row| CueCard::new(row, presence);
    let agents = reader.agent_rows(agent)?;
    Ok(agents
        .into_iter()
        .map(|row| {
            let cards = |rows: &mut HashMap<AgentId, Vec<CueRow>>| {
                let rows = rows.remove(&row.agent_id).unwrap_or_default();
                rows.into_iter().map(card).collect()
            };
            let (open, damaged) = (cards(&mut open), cards(&mut damaged));
            let last = last.remove(&row.agent_id).map(card);
            AgentCard::new(row, open, damaged, last, now)
        })
        .collect())
}

fn by_agent(rows: Vec<CueRow>) -> HashMap<AgentId, Vec<CueRow>> {
    let mut agents: HashMap<AgentId, Vec<CueRow>> = HashMap::new();
    for row in rows {
        agents.entry(row.agent_id.clone()).or_default().push(row);
    }
    agents
}

/// Says what is missing for notifications and installation, when the page is served to others without TLS.
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
