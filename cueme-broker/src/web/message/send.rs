//! Leaves a message for one or several agents.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::{MESSAGE_BYTES_MAX, Purpose, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::engine::Work;
use crate::web::door::Visitor;
use crate::web::error::{ApiError, Problem};
use crate::web::extract::{Input, Named, Sent};
use crate::web::state::{Shared, Web, unexpected};

/// The most agents that one message may go to.
const AGENTS_MAX: usize = 256;

/// A message for one or several agents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageBody {
    /// Created by the page, once for each message.
    id: Uuid,
    #[schemars(length(min = 1, max = 256))]
    agents: Vec<String>,
    text: String,
    /// `note` (the default) goes above the next answer; `queued_answer` answers the next question without a payload.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["note", "queued_answer"]))]
    purpose: Purpose,
}

impl Input for MessageBody {
    const BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
}

/// The result of a message, for each agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageResults {
    results: Vec<MessageResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MessageResult {
    agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued: Option<u32>,
    /// A question that is open now and could be answered instead.
    open_cue: Option<String>,
    /// The number of clients that wait for that question's outcome.
    waiting: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// Leaves one message for one or several agents.
pub(super) async fn send(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<MessageBody>,
) -> Result<Json<MessageResults>, ApiError> {
    check(&body.text)?;
    if body.agents.is_empty() || body.agents.len() > AGENTS_MAX {
        return Err(ApiError::bad_request(format!("name 1 to {AGENTS_MAX} agents")));
    }
    let mut results = Vec::with_capacity(body.agents.len());
    for name in &body.agents {
        results.push(send_to(&web, &visitor, &body, name).await);
    }
    Ok(Json(MessageResults { results }))
}

async fn send_to(web: &Web, visitor: &Visitor, body: &MessageBody, name: &str) -> MessageResult {
    let mut result = MessageResult {
        agent_id: name.to_owned(),
        message_id: None,
        queued: None,
        open_cue: None,
        waiting: 0,
        error: None,
    };
    match try_send(web, visitor, body, name).await {
        Ok((message, said)) => {
            result.message_id = Some(message.to_string());
            result.queued = Some(said.queued);
            result.waiting = said.waiting;
            result.open_cue = said.open_cue.map(String::from);
        }
        Err(error) => result.error = Some(*error.problem),
    }
    result
}

async fn try_send(
    web: &Web,
    visitor: &Visitor,
    body: &MessageBody,
    name: &str,
) -> Result<(RequestId, protocol_spec::message::Said), ApiError> {
    let agent = AgentId::named(name)?;
    let message = message_id(body.id, &agent, body.agents.len());
    let work = Work::Say {
        agent,
        text: body.text.clone(),
        purpose: body.purpose,
        by: visitor.name(),
    };
    match web.order(visitor, message, work).await? {
        Reply::Said(said) => Ok((message, said)),
        other => Err(unexpected(&other)),
    }
}

/// Each agent's copy has a key of its own, the same whenever the same message is sent again.
fn message_id(id: Uuid, agent: &AgentId, agents: usize) -> RequestId {
    if agents == 1 {
        return RequestId(id);
    }
    let mut hash = Sha256::new();
    hash.update(id.as_bytes());
    hash.update(agent.as_str());
    RequestId::from_digest(hash.finalize().into())
}

pub(super) fn check(text: &str) -> Result<(), ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::bad_request("the message is empty"));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(ApiError::too_large(MESSAGE_BYTES_MAX));
    }
    Ok(())
}
