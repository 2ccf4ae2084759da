//! Finds an agent among those of the token.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own::token_of;
use crate::socket::owns;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// An agent recalls its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallBody {
    hints: String,
    project_dir: Option<String>,
}

impl Input for RecallBody {}

/// The agents that match, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecalledShown {
    /// Best first, and the first is the match; empty when no agent is a clear match.
    matches: Vec<MatchShown>,
    /// Agents that match about equally well, or not well enough, when no agent is a clear match.
    candidates: Vec<MatchShown>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MatchShown {
    agent_id: String,
    why: Vec<String>,
}

/// Finds an agent among those of the token.
pub(super) async fn recall(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<RecallBody>,
) -> Result<Json<RecalledShown>, ApiError> {
    let token = token_of(&visitor)?.clone();
    web.broker.engine().catch_up().await?;
    let found = web
        .read(move |reader| {
            reader.recall_among(&body.hints, body.project_dir.as_deref(), &|agent| {
                owns(reader, &token, agent)
            })
        })
        .await?;
    let is_clear = found.is_clear;
    let shown = found.matches.into_iter().map(|found| MatchShown {
        agent_id: found.agent.agent_id.into(),
        why: found.why,
    });
    let (matches, candidates) = if is_clear {
        (shown.collect(), Vec::new())
    } else {
        (Vec::new(), shown.collect())
    };
    Ok(Json(RecalledShown { matches, candidates }))
}
