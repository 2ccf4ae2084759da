//! Lists the agents with their questions.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::broker::wall_clock;
use crate::presence::Presence;
use crate::store::{CueRow, Reader, StoreError};
use crate::web::error::ApiError;
use crate::web::state::{Shared, Web};
use crate::web::view::{AgentCard, CueCard};

/// All agents.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Agents {
    agents: Vec<AgentCard>,
}

/// Returns all agents.
pub(super) async fn agents(State(web): State<Shared>) -> Result<Json<Agents>, ApiError> {
    let agents = agent_cards(&web, None).await?;
    Ok(Json(Agents { agents }))
}

/// Collects all agents, or one.
pub(in crate::web) async fn agent_cards(
    web: &Web,
    agent: Option<AgentId>,
) -> Result<Vec<AgentCard>, ApiError> {
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
