//! Changes the messages that wait for an agent.

use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::Reply;
use uuid::Uuid;

use crate::engine::Work;
use crate::machine::QueueEdit;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::Named;
use crate::web::state::{Web, unexpected};

/// The id of a message.
pub(super) struct MessageId(pub(super) RequestId);

impl Named for MessageId {
    fn named(name: &str) -> Result<Self, ApiError> {
        let id = name
            .parse()
            .map_err(|_| ApiError::not_found("no such message waits"))?;
        Ok(Self(RequestId(id)))
    }
}

pub(super) async fn edit(
    web: &Web,
    visitor: &Visitor,
    agent: AgentId,
    edit: QueueEdit,
) -> Result<(), ApiError> {
    let request = RequestId(Uuid::now_v7());
    match web
        .order(visitor, request, Work::EditQueue { agent, edit })
        .await?
    {
        Reply::Queue(_) => Ok(()),
        other => Err(unexpected(&other)),
    }
}
