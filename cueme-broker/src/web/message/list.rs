//! Lists the messages that wait for an agent.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::web::agent::one;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::{Shared, Web};
use crate::web::view::MessageShown;

/// Messages in the order of delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Messages {
    messages: Vec<MessageShown>,
}

/// Lists the messages that wait for an agent.
pub(super) async fn list(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
) -> Result<Json<Messages>, ApiError> {
    one(&web, agent.clone()).await?;
    waiting(&web, agent).await
}

pub(super) async fn waiting(web: &Web, agent: AgentId) -> Result<Json<Messages>, ApiError> {
    let messages = web.read(move |reader| reader.messages(&agent)).await?;
    Ok(Json(Messages {
        messages: messages.into_iter().map(MessageShown::from).collect(),
    }))
}
