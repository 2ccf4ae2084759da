//! Takes a decision back.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::Reply;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::engine::Work;
use crate::store::DraftPlace;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::extract::{Empty, Sent};
use crate::web::state::{Shared, unexpected};
use crate::web::view::DraftShown;

/// A question is open again.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Undone {
    cue_id: String,
    draft: Option<DraftShown>,
}

/// Undoes a decision.
pub(super) async fn undo(
    State(web): State<Shared>,
    visitor: Visitor,
    At(cue): At<CueId>,
    Sent(Empty {}): Sent<Empty>,
) -> Result<Json<Undone>, ApiError> {
    let request = RequestId(Uuid::now_v7());
    match web.order(&visitor, request, Work::Undo(cue)).await? {
        Reply::Undone(undone) => {
            let draft = web
                .read(move |reader| reader.draft(&DraftPlace::cue(cue)))
                .await?;
            Ok(Json(Undone {
                cue_id: undone.cue_id.into(),
                draft: draft.map(DraftShown::from),
            }))
        }
        other => Err(unexpected(&other)),
    }
}
