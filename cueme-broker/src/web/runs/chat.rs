//! The chat of an agent as its runtime keeps it on disk.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;
use protocol_spec::message::RunKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::chats::{ChatPart, ChatPlace};
use crate::store::{Reader, RunsWanted, StoreError};
use crate::web::error::ApiError;
use crate::web::extract::{Asked, At};
use crate::web::state::Shared;

/// The part of a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct ChatQuery {
    /// The messages before this one; the newest without it.
    before: Option<usize>,
}

/// Returns a part of an agent's chat.
pub(super) async fn chat(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
    Asked(query): Asked<ChatQuery>,
) -> Result<Json<ChatPart>, ApiError> {
    let known = agent.clone();
    let places = web
        .read(move |reader| places(reader, &known))
        .await?
        .ok_or_else(ApiError::unknown_agent)?;
    let chats = Arc::clone(web.broker.chats());
    let loaded = tokio::task::spawn_blocking(move || chats.read(&places, query.before)).await;
    let chat = loaded
        .map_err(|error| internal(error.to_string()))?
        .map_err(internal)?;
    let chat = chat.ok_or_else(|| ApiError::not_found("Cursor keeps no chat of this agent here"))?;
    Ok(Json(chat))
}

/// Returns the possible places of an agent's chat, the likeliest first: its newest run's, then the one it joined with.
fn places(reader: &dyn Reader, agent: &AgentId) -> Result<Option<Vec<ChatPlace>>, StoreError> {
    let Some(row) = reader.agent_rows(Some(agent))?.pop() else {
        return Ok(None);
    };
    let wanted = RunsWanted {
        kind: Some(RunKind::Local),
        agent: Some(agent.clone()),
        limit: 10,
        ..RunsWanted::default()
    };
    let of_runs = reader.runs(&wanted)?.into_iter().filter_map(|row| {
        Some(ChatPlace {
            session: row.run.session?,
            project: row.run.project,
        })
    });
    let joined = reader.session_of_agent(agent)?.map(|session| ChatPlace {
        session,
        project: row.project_dir,
    });
    Ok(Some(of_runs.chain(joined).collect()))
}

fn internal(message: String) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}
