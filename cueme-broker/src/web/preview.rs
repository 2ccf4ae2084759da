//! Previews Markdown.

use axum::Json;
use schemars::JsonSchema;
use serde::Deserialize;

use super::error::ApiError;
use super::extract::{Input, Sent};
use super::view::{Markup, PART_BYTES, Reading};
use crate::web::cue::markup;

/// Markdown that a human is writing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviewBody {
    markdown: String,
}

impl Input for PreviewBody {}

/// Renders Markdown.
pub(super) async fn preview(Sent(body): Sent<PreviewBody>) -> Result<Json<Markup>, ApiError> {
    let text = body.markdown;
    markup(move || Markup::part(&text, Reading::Markdown, 0..text.len(), PART_BYTES)).await
}
