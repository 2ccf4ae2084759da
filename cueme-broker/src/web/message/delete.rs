//! Takes a message back.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;

use super::edit::{MessageId, edit};
use crate::machine::QueueEdit;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Deletes a message.
pub(super) async fn delete(
    State(web): State<Shared>,
    visitor: Visitor,
    At((agent, MessageId(message))): At<(AgentId, MessageId)>,
) -> Result<StatusCode, ApiError> {
    edit(&web, &visitor, agent, QueueEdit::Delete(message)).await?;
    Ok(StatusCode::NO_CONTENT)
}
