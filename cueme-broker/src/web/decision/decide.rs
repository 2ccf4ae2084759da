//! Hands a decision to the engine; the second of two humans is told the first one.

use axum::Json;
use protocol_spec::id::{CueId, RequestId};
use protocol_spec::message::Reply;
use protocol_spec::outcome::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::engine::{Work, Write};
use crate::machine::own_answer;
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::state::{Web, unexpected};
use crate::web::view::When;

/// A question is decided.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Decided {
    cue_id: String,
    agent_id: String,
    #[schemars(with = "String")]
    outcome: Outcome,
    handed_to: u32,
    released_at: Option<When>,
}

pub(super) async fn decide(
    web: &Web,
    visitor: &Visitor,
    id: Uuid,
    cue: CueId,
    work: Work,
    draft: Option<Write<'static>>,
) -> Result<Json<Decided>, ApiError> {
    match web.order_after(visitor, draft, RequestId(id), work).await {
        Ok(Reply::Decided(decided)) => Ok(Json(Decided {
            cue_id: decided.cue_id.into(),
            agent_id: decided.agent_id.into(),
            outcome: decided.outcome,
            handed_to: decided.handed_to,
            released_at: decided.released_at.map(When::from),
        })),
        Ok(other) => Err(unexpected(&other)),
        Err(error) if error.problem.code == "already_decided" => {
            Err(error.with_details(who_decided(web, cue).await?))
        }
        Err(error) => Err(error),
    }
}

/// Tells the second of two humans the first one's name and answer.
async fn who_decided(web: &Web, cue: CueId) -> Result<Value, ApiError> {
    let made = web.read(move |reader| reader.cue(cue)).await?;
    Ok(made.map_or(Value::Null, |cue| {
        let text = cue.text.as_deref().map(|text| own_answer(text, cue.outcome));
        json!({ "by": cue.by, "outcome": cue.outcome, "decided_at": cue.decided_at, "text": text })
    }))
}

impl Web {
    pub(super) fn hold_ms(&self, wanted: Option<u64>) -> u64 {
        wanted.unwrap_or_else(|| self.settings.current().hold_ms())
    }
}
