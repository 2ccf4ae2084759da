//! Writes a message anew.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use protocol_spec::message::MESSAGE_BYTES_MAX;
use schemars::JsonSchema;
use serde::Deserialize;

use super::edit::{MessageId, edit};
use super::list::{Messages, waiting};
use super::send::check;
use crate::machine::QueueEdit;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::Shared;

/// A new wording.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RewordBody {
    text: String,
}

impl Input for RewordBody {
    const BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
}

/// Rewords a message.
pub(super) async fn reword(
    State(web): State<Shared>,
    visitor: Visitor,
    At((agent, MessageId(message))): At<(AgentId, MessageId)>,
    Sent(body): Sent<RewordBody>,
) -> Result<Json<Messages>, ApiError> {
    check(&body.text)?;
    let reworded = QueueEdit::Reword(message, body.text);
    edit(&web, &visitor, agent.clone(), reworded).await?;
    waiting(&web, agent).await
}
