//! Returns texts as they were written.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use protocol_spec::id::CueId;
use protocol_spec::message::CueView;

use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::{Shared, Web};

/// Returns a question as it was written.
pub(super) async fn prompt_source(
    State(web): State<Shared>,
    At(id): At<CueId>,
) -> Result<Response, ApiError> {
    Ok(plain(cue_of(&web, id).await?.prompt))
}

/// Returns the text that the agent reads, unrendered.
pub(super) async fn text_source(State(web): State<Shared>, At(id): At<CueId>) -> Result<Response, ApiError> {
    Ok(plain(text_of(&web, id).await?))
}

pub(super) async fn cue_of(web: &Web, id: CueId) -> Result<CueView, ApiError> {
    let cue = web.read(move |reader| reader.cue(id)).await?;
    cue.ok_or_else(ApiError::unknown_cue)
}

pub(super) async fn text_of(web: &Web, id: CueId) -> Result<String, ApiError> {
    let cue = cue_of(web, id).await?;
    cue.text
        .ok_or_else(|| ApiError::not_found("the question is not decided"))
}

fn plain(text: String) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
