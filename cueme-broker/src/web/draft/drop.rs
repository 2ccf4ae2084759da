//! Deletes a draft.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{AgentId, CueId};

use crate::store::DraftPlace;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::page_events::Notice;
use crate::web::state::Shared;

/// Deletes the draft of an answer.
pub(super) async fn drop_for_cue(
    State(web): State<Shared>,
    At(cue): At<CueId>,
) -> Result<StatusCode, ApiError> {
    web.write(move |store, _| store.drop_draft(&DraftPlace::cue(cue)))
        .await?;
    web.page_events.notice(Notice::draft(None, Some(cue), 0));
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes the draft of a message.
pub(super) async fn drop_for_agent(
    State(web): State<Shared>,
    At(agent): At<AgentId>,
) -> Result<StatusCode, ApiError> {
    let place = DraftPlace::agent(&agent);
    web.write(move |store, _| store.drop_draft(&place)).await?;
    web.page_events.notice(Notice::draft(Some(agent), None, 0));
    Ok(StatusCode::NO_CONTENT)
}
