//! Notes for the next answer, and answers queued for the next question.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::{MESSAGE_BYTES_MAX, Purpose, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::agents::one;
use super::door::Visitor;
use super::error::{ApiError, Problem};
use super::extract::{At, Input, Named, Sent};
use super::state::{Shared, Web, unexpected};
use super::view::MessageShown;
use crate::engine::Work;
use crate::machine::QueueEdit;

/// How many agents one message may go to.
const AGENTS_MAX: usize = 256;

/// A message for one or several agents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageBody {
    /// Made by the page, once for each message.
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

/// What became of a message, for each agent.
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
    /// How many clients wait for that question's outcome.
    waiting: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// Messages in the order of delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Messages {
    messages: Vec<MessageShown>,
}

/// An order of messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderBody {
    /// The ids of all that wait.
    messages: Vec<Uuid>,
}

impl Input for OrderBody {}

/// A new wording.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RewordBody {
    text: String,
}

impl Input for RewordBody {
    const BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
}

/// The id of a message.
pub(super) struct MessageId(RequestId);

impl Named for MessageId {
    fn named(name: &str) -> Result<Self, ApiError> {
        let id = name
            .parse()
            .map_err(|_| ApiError::not_found("no such message waits"))?;
        Ok(Self(RequestId(id)))
    }
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
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    RequestId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

/// Lists the messages that wait for an agent.
pub(super) async fn list(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
) -> Result<Json<Messages>, ApiError> {
    one(&web, agent.clone()).await?;
    waiting(&web, agent).await
}

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

/// Writes a message anew.
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

/// Takes a message back.
pub(super) async fn delete(
    State(web): State<Shared>,
    visitor: Visitor,
    At((agent, MessageId(message))): At<(AgentId, MessageId)>,
) -> Result<StatusCode, ApiError> {
    edit(&web, &visitor, agent, QueueEdit::Delete(message)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn edit(web: &Web, visitor: &Visitor, agent: AgentId, edit: QueueEdit) -> Result<(), ApiError> {
    let request = RequestId(Uuid::now_v7());
    match web
        .order(visitor, request, Work::EditQueue { agent, edit })
        .await?
    {
        Reply::Queue(_) => Ok(()),
        other => Err(unexpected(&other)),
    }
}

async fn waiting(web: &Web, agent: AgentId) -> Result<Json<Messages>, ApiError> {
    let messages = web.read(move |reader| reader.messages(&agent)).await?;
    Ok(Json(Messages {
        messages: messages.into_iter().map(MessageShown::from).collect(),
    }))
}

fn check(text: &str) -> Result<(), ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::bad_request("there is nothing written"));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(ApiError::too_large(MESSAGE_BYTES_MAX));
    }
    Ok(())
}
