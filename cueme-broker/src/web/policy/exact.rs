//! Returns the conditions of a rule that fits exactly one question.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::CueId;
use protocol_spec::payload::Payload;
use schemars::JsonSchema;
use serde::Serialize;

use crate::hours::minute_now;
use crate::policy::case;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// The conditions of a rule that fits exactly one question.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Exact {
    project: String,
    /// `none`, `choice`, `confirm`, `form` or `pause`.
    payload: &'static str,
    says: String,
}

/// Returns the conditions of a rule that fits exactly one question.
pub(super) async fn exact(State(web): State<Shared>, At(id): At<CueId>) -> Result<Json<Exact>, ApiError> {
    let read = web.read(move |reader| {
        let Some(cue) = reader.cue(id)? else {
            return Ok(None);
        };
        let agent = reader.agent_rows(Some(&cue.agent_id))?.pop();
        Ok(agent.map(|agent| (cue, agent)))
    });
    let (cue, agent) = read.await?.ok_or_else(ApiError::unknown_cue)?;
    let payload = cue
        .payload
        .as_deref()
        .and_then(|payload| Payload::parse(payload.get()).ok());
    let case = case(&cue, payload.as_ref().map(Payload::shape), &agent, minute_now());
    Ok(Json(Exact {
        project: agent.project_dir.clone(),
        payload: case.asks.name(),
        says: case.says(),
    }))
}
