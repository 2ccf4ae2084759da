//! Declines a question, or closes it without an answer.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::CueId;
use protocol_spec::message::MESSAGE_BYTES_MAX;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::decide::{Decided, decide};
use crate::engine::{Closing, Work};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::{Shared, Web};

/// A refusal or a closing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseBody {
    /// Created by the page, once for each decision.
    id: Uuid,
    /// Why.
    reason: Option<String>,
    /// The time during which it can be undone; the setting unless given.
    hold_ms: Option<u64>,
}

impl Input for CloseBody {
    const BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
}

/// Declines a question.
pub(super) async fn decline(
    state: State<Shared>,
    visitor: Visitor,
    cue: At<CueId>,
    body: Sent<CloseBody>,
) -> Result<Json<Decided>, ApiError> {
    close(&state.0, &visitor, cue.0, body.0, Closing::Decline).await
}

/// Closes a question without an answer.
pub(super) async fn cancel(
    state: State<Shared>,
    visitor: Visitor,
    cue: At<CueId>,
    body: Sent<CloseBody>,
) -> Result<Json<Decided>, ApiError> {
    close(&state.0, &visitor, cue.0, body.0, Closing::Cancel).await
}

async fn close(
    web: &Web,
    visitor: &Visitor,
    cue: CueId,
    body: CloseBody,
    closing: impl FnOnce(Option<String>) -> Closing,
) -> Result<Json<Decided>, ApiError> {
    let reason = body
        .reason
        .map(|reason| reason.trim().to_owned())
        .filter(|reason| !reason.is_empty());
    if reason
        .as_ref()
        .is_some_and(|reason| reason.len() > MESSAGE_BYTES_MAX)
    {
        return Err(ApiError::too_large(MESSAGE_BYTES_MAX));
    }
    let work = Work::Close {
        cue,
        verdict: closing(reason),
        by: visitor.name(),
        hold_ms: web.hold_ms(body.hold_ms),
    };
    decide(web, visitor, body.id, cue, work, None).await
}
