//! One agent: what is known of it, and what a human makes of it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use super::bell::Notice;
use super::door::Visitor;
use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::snapshot::agent_cards;
use super::state::{Shared, Web, unexpected};
use super::view::{AgentCard, DraftShown, MessageShown};
use crate::engine::Work;
use crate::machine::Amendment;
use crate::store::DraftPlace;

/// The longest name of an agent.
const NAME_BYTES_MAX: usize = 200;
/// The longest standing instruction.
const STANDING_BYTES_MAX: usize = 16 * 1024;

/// An agent with everything that waits for it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentWhole {
    #[serde(flatten)]
    card: AgentCard,
    messages: Vec<MessageShown>,
    draft: Option<DraftShown>,
}

/// What a human changes; what is absent stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentPatch {
    /// `null` takes the name away.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    name: Option<Option<String>>,
    pinned: Option<bool>,
    archived: Option<bool>,
    /// Appended to each answer; `null` takes it away.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    standing: Option<Option<String>>,
}

impl Input for AgentPatch {}

/// How far a human has read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadMark {
    seq: i64,
    /// Makes the question with this number, and those after it, unread again.
    #[serde(default)]
    unread: bool,
}

impl Input for ReadMark {}

/// Tells a value that is `null` from one that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
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

/// Names, pins, archives or instructs an agent.
pub(super) async fn amend(
    State(web): State<Shared>,
    visitor: Visitor,
    At(agent): At<AgentId>,
    Sent(patch): Sent<AgentPatch>,
) -> Result<Json<AgentCard>, ApiError> {
    let amendment = Amendment {
        name: patch.name.map(|name| tidy(name, NAME_BYTES_MAX)).transpose()?,
        pinned: patch.pinned,
        archived: patch.archived,
        standing: patch
            .standing
            .map(|standing| tidy(standing, STANDING_BYTES_MAX).map(|standing| standing.map(Into::into)))
            .transpose()?,
    };
    let work = Work::Amend {
        agent: agent.clone(),
        amendment,
    };
    match web.order(&visitor, RequestId(Uuid::now_v7()), work).await? {
        Reply::Amended(_) => one(&web, agent).await.map(Json),
        other => Err(unexpected(&other)),
    }
}

/// Notes how far a human has read.
pub(super) async fn mark_read(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
    Sent(mark): Sent<ReadMark>,
) -> Result<StatusCode, ApiError> {
    one(&web, agent.clone()).await?;
    let marked = agent.clone();
    web.write(move |store, _| {
        if mark.unread {
            store.mark_unread(&marked, mark.seq)
        } else {
            store.mark_read(&marked, mark.seq)
        }
    })
    .await?;
    web.bell.notice(Notice::read(agent));
    Ok(StatusCode::NO_CONTENT)
}

/// Returns one agent in short.
pub(super) async fn one(web: &Web, agent: AgentId) -> Result<AgentCard, ApiError> {
    agent_cards(web, Some(agent))
        .await?
        .pop()
        .ok_or_else(ApiError::unknown_agent)
}

/// Takes blank for nothing, and refuses what is too long.
fn tidy(text: Option<String>, bytes_max: usize) -> Result<Option<String>, ApiError> {
    let text = text
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    if text.as_ref().is_some_and(|text| text.len() > bytes_max) {
        return Err(ApiError::too_large(bytes_max));
    }
    Ok(text)
}
