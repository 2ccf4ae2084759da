//! Names, pins, archives or instructs an agent.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::{AgentId, RequestId};
use protocol_spec::message::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::show::one;
use crate::engine::Work;
use crate::machine::Amendment;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::{Shared, unexpected};
use crate::web::view::AgentCard;

/// The longest name of an agent.
const NAME_BYTES_MAX: usize = 200;
/// The longest standing instruction.
const STANDING_BYTES_MAX: usize = 16 * 1024;

/// A human's changes; an absent key stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentPatch {
    /// `null` removes the name.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    name: Option<Option<String>>,
    pinned: Option<bool>,
    archived: Option<bool>,
    /// Appended to each answer; `null` removes it.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    standing: Option<Option<String>>,
}

impl Input for AgentPatch {}

/// Tells a value that is `null` from one that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
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

/// Treats a blank text as absent, and refuses one that is too long.
fn tidy(text: Option<String>, bytes_max: usize) -> Result<Option<String>, ApiError> {
    let text = text
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    if text.as_ref().is_some_and(|text| text.len() > bytes_max) {
        return Err(ApiError::too_large(bytes_max));
    }
    Ok(text)
}
