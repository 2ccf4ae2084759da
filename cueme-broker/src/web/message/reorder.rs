//! Puts messages in another order.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::{AgentId, RequestId};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::edit::edit;
use super::list::{Messages, waiting};
use crate::machine::QueueEdit;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::Shared;

/// An order of messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderBody {
    /// The ids of all waiting messages.
    messages: Vec<Uuid>,
}

impl Input for OrderBody {}

/// Puts messages in another order.
pub(super) async fn reorder(
    State(web): State<Shared>,
    visitor: Visitor,
    At(agent): At<AgentId>,
    Sent(body): Sent<OrderBody>,
) -> Result<Json<Messages>, ApiError> {
    let order = body.messages.into_iter().map(RequestId).collect();
    edit(&web, &visitor, agent.clone(), QueueEdit::Reorder(order)).await?;
    waiting(&web, agent).await
}
