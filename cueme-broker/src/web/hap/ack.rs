//! Settles outcomes that the agent received.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::{ACKS_MAX, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::own::own_cue;
use crate::engine::Work;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Named, Sent};
use crate::web::state::{Shared, unexpected};

/// The outcomes that the agent received.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AckBody {
    cue_ids: Vec<String>,
}

impl Input for AckBody {}

/// Settles outcomes that the agent received.
pub(super) async fn ack(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<AckBody>,
) -> Result<Json<AckBody>, ApiError> {
    if body.cue_ids.len() > ACKS_MAX {
        return Err(ApiError::bad_request(format!("at most {ACKS_MAX} at once")));
    }
    let mut cues = Vec::with_capacity(body.cue_ids.len());
    for cue in &body.cue_ids {
        let cue = CueId::named(cue)?;
        own_cue(&web, &visitor, cue).await?;
        cues.push(cue);
    }
    if cues.is_empty() {
        return Ok(Json(body));
    }
    let work = Work::Ack { cues, nonce: None };
    match web.order(&visitor, RequestId(Uuid::now_v7()), work).await? {
        Reply::Acked(acked) => Ok(Json(AckBody {
            cue_ids: acked.cue_ids.into_iter().map(String::from).collect(),
        })),
        other => Err(unexpected(&other)),
    }
}
