//! Lists the questions that can be answered.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::presence::Presence;
use crate::web::error::ApiError;
use crate::web::state::Shared;
use crate::web::view::CueCard;

/// All questions that can be answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenCues {
    cues: Vec<CueCard>,
}

/// Returns all questions that can be answered, oldest first.
pub(super) async fn open_cues(State(web): State<Shared>) -> Result<Json<OpenCues>, ApiError> {
    let presence = Presence::read(web.broker.engine()).await?;
    let rows = web.read(|reader| reader.answerable(None)).await?;
    let cues = rows.into_iter().map(|row| CueCard::new(row, &presence)).collect();
    Ok(Json(OpenCues { cues }))
}
