//! Stores a draft, unless another device stored one meanwhile.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::{AgentId, CueId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::secrets::without_secrets;
use crate::store::DraftPlace;
use crate::web::agent::one;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::page_events::Notice;
use crate::web::state::{Shared, Web};
use crate::web::view::DraftShown;

/// A draft.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftBody {
    /// The revision this one is based on; 0 when there was none.
    rev: i64,
    /// Data of the page; usually an answer.
    body: Map<String, Value>,
}

impl Input for DraftBody {
    const BYTES_MAX: usize = 4 * 1024 * 1024;
}

/// Stores the draft of an answer.
pub(super) async fn keep_for_cue(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Sent(draft): Sent<DraftBody>,
) -> Result<Json<DraftShown>, ApiError> {
    let body = without_secrets(&web, cue, Value::Object(draft.body)).await?;
    let notice = move |rev| Notice::draft(None, Some(cue), rev);
    keep(&web, &visitor, DraftPlace::cue(cue), draft.rev, &body, notice).await
}

/// Stores the draft of a message.
pub(super) async fn keep_for_agent(
    State(web): State<Shared>,
    visitor: Visitor,
    At(agent): At<AgentId>,
    Sent(draft): Sent<DraftBody>,
) -> Result<Json<DraftShown>, ApiError> {
    one(&web, agent.clone()).await?;
    let place = DraftPlace::agent(&agent);
    let notice = move |rev| Notice::draft(Some(agent), None, rev);
    keep(
        &web,
        &visitor,
        place,
        draft.rev,
        &Value::Object(draft.body),
        notice,
    )
    .await
}

async fn keep(
    web: &Web,
    visitor: &Visitor,
    place: DraftPlace,
    base: i64,
    body: &Value,
    notice: impl FnOnce(i64) -> Notice,
) -> Result<Json<DraftShown>, ApiError> {
    let (body, by) = (body.to_string(), visitor.name());
    let kept = web
        .write(move |store, now| store.keep_draft(&place, base, &body, by.as_deref(), now))
        .await?;
    match kept {
        Ok(draft) => {
            web.page_events.notice(notice(draft.rev));
            Ok(Json(draft.into()))
        }
        Err(stored) => {
            let details = serde_json::to_value(DraftShown::from(stored)).unwrap_or_default();
            Err(ApiError::new(
                StatusCode::CONFLICT,
                "stale_draft",
                "somebody wrote on this draft meanwhile",
            )
            .with_hint("merge with what is in `details`, and send its `rev`")
            .with_details(details))
        }
    }
}
