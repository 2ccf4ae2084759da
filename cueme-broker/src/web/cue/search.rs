//! Finds agents and questions by their words.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timeline::limit;
use crate::presence::Presence;
use crate::web::agent::agent_cards;
use crate::web::error::ApiError;
use crate::web::extract::Asked;
use crate::web::state::Shared;
use crate::web::view::{AgentCard, CueCard};

/// The default number of questions that a search finds.
const SEARCH_DEFAULT: u32 = 50;

/// A search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct SearchQuery {
    /// Words.
    q: String,
    /// Only this agent's.
    agent: Option<String>,
    /// Only questions before this sequence number.
    before: Option<i64>,
    /// The maximum number of questions.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// The results of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    agents: Vec<FoundAgent>,
    cues: Vec<FoundCue>,
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundAgent {
    agent: AgentCard,
    why: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundCue {
    #[serde(flatten)]
    card: CueCard,
    snippet: String,
}

/// Finds agents and questions by their words.
pub(super) async fn search(
    State(web): State<Shared>,
    Asked(query): Asked<SearchQuery>,
) -> Result<Json<Found>, ApiError> {
    web.broker.engine().human_seen();
    web.broker.engine().catch_up_soon().await?;
    let agent: Option<AgentId> = match &query.agent {
        Some(agent) => Some(agent.parse().map_err(|_| ApiError::unknown_agent())?),
        None => None,
    };
    let presence = Presence::read(web.broker.engine()).await?;
    let limit = limit(query.limit, SEARCH_DEFAULT);
    let (words, is_everywhere, is_first) = (query.q, agent.is_none(), query.before.is_none());
    let (matches, mut found) = web
        .read(move |reader| {
            let matches = if is_everywhere && is_first {
                reader.recall(&words, None)?.matches
            } else {
                Vec::new()
            };
            let found = reader.search_cues(&words, agent.as_ref(), query.before, limit.saturating_add(1))?;
            Ok((matches, found))
        })
        .await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let mut agents = Vec::new();
    for matched in matches {
        if let Some(agent) = agent_cards(&web, Some(matched.agent.agent_id)).await?.pop() {
            agents.push(FoundAgent {
                agent,
                why: matched.why,
            });
        }
    }
    let cues = found
        .into_iter()
        .map(|(row, snippet)| FoundCue {
            card: CueCard::new(row, &presence),
            snippet: crate::web::markdown::visible(&snippet).into_owned(),
        })
        .collect();
    Ok(Json(Found { agents, cues, more }))
}
