//! Returns parts of long texts as HTML.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::CueId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::source::{cue_of, text_of};
use crate::web::error::ApiError;
use crate::web::extract::{Asked, At};
use crate::web::state::Shared;
use crate::web::view::{Markup, PART_BYTES, Reading};

/// The part of a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct PartQuery {
    /// The offset of the part, as `next` said.
    #[serde(default)]
    from: usize,
    /// The latest end of the part.
    to: Option<usize>,
}

/// Returns the next part of a question.
pub(super) async fn prompt_part(
    state: State<Shared>,
    id: At<CueId>,
    Asked(query): Asked<PartQuery>,
) -> Result<Json<Markup>, ApiError> {
    let cue = cue_of(&state.0, id.0).await?;
    part_of(cue.prompt, cue.origin.into(), query).await
}

/// Returns the next part of the text that the agent reads.
pub(super) async fn text_part(
    state: State<Shared>,
    id: At<CueId>,
    Asked(query): Asked<PartQuery>,
) -> Result<Json<Markup>, ApiError> {
    let text = text_of(&state.0, id.0).await?;
    part_of(text, Reading::Markdown, query).await
}

async fn part_of(text: String, reading: Reading, query: PartQuery) -> Result<Json<Markup>, ApiError> {
    let range = query.from..query.to.unwrap_or(text.len());
    markup(move || Markup::part(&text, reading, range, PART_BYTES)).await
}

/// Renders off the tasks that must not block.
pub(in crate::web) async fn markup(
    render: impl FnOnce() -> Markup + Send + 'static,
) -> Result<Json<Markup>, ApiError> {
    Ok(Json(crate::broker::blocking(move || Ok(render())).await?))
}
