//! Returns one agent with its messages.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::Serialize;

use super::list::agent_cards;
use crate::store::DraftPlace;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::{Shared, Web};
use crate::web::view::{AgentCard, DraftShown, MessageShown};

/// An agent with its waiting messages and questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentWhole {
    #[serde(flatten)]
    card: AgentCard,
    messages: Vec<MessageShown>,
    draft: Option<DraftShown>,
}

/// Returns one agent.
pub(super) async fn agent(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
) -> Result<Json<AgentWhole>, ApiError> {
    let card = one(&web, agent.clone()).await?;
    let (messages, draft) = web
        .read(move |reader| {
            Ok((
                reader.messages(&agent)?,
                reader.draft(&DraftPlace::agent(&agent))?,
            ))
        })
        .await?;
    Ok(Json(AgentWhole {
        card,
        messages: messages.into_iter().map(MessageShown::from).collect(),
        draft: draft.map(DraftShown::from),
    }))
}

/// Returns one agent in short.
pub(in crate::web) async fn one(web: &Web, agent: AgentId) -> Result<AgentCard, ApiError> {
    agent_cards(web, Some(agent))
        .await?
        .pop()
        .ok_or_else(ApiError::unknown_agent)
}
