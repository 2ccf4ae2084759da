//! Shows the files that a question names: images, and patches as a review.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use protocol_spec::id::CueId;
use protocol_spec::message::CueView;
use schemars::JsonSchema;
use serde::Serialize;

use super::part::markup;
use crate::attachments;
use crate::attachments::{FileKind, named_file, sniff};
use crate::store::{Reader, StoreError};
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;
use crate::web::upload::inert;
use crate::web::view::{Markup, Reading};

/// A file that a question names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::web) struct FileShown {
    /// As the question names it.
    path: String,
    kind: FileKind,
    /// The path to fetch it: an image itself, a patch as `Markup`.
    url: String,
    bytes: u64,
}

/// Finds the files of an open question that can be shown.
pub(super) fn files_of(reader: &dyn Reader, cue: &CueView) -> Result<Vec<FileShown>, StoreError> {
    let found = attachments::files_of(reader, cue)?.into_iter();
    let shown = found.map(|file| FileShown {
        url: format!("/api/v1/cues/{}/files/{}", cue.cue_id, file.number),
        path: file.path,
        kind: file.kind,
        bytes: file.bytes,
    });
    Ok(shown.collect())
}

/// Returns an image that a question names, or a patch as a review.
pub(super) async fn give(
    State(web): State<Shared>,
    At((cue, number)): At<(CueId, String)>,
) -> Result<Response, ApiError> {
    let number: usize = number.parse().map_err(|_| no_such_file())?;
    let file = web
        .read(move |reader| match reader.cue(cue)? {
            Some(cue) => named_file(reader, &cue, number),
            None => Ok(None),
        })
        .await?
        .ok_or_else(no_such_file)?;
    match file.kind {
        FileKind::Image => {
            let media_type = sniff(&file.bytes).media_type;
            inert(file.bytes, media_type, "inline", "private, no-store")
        }
        FileKind::Patch => Ok(patch(file.bytes).await?.into_response()),
    }
}

fn no_such_file() -> ApiError {
    ApiError::not_found("there is no such file")
}

async fn patch(bytes: Vec<u8>) -> Result<Json<Markup>, ApiError> {
    let text = String::from_utf8(bytes).map_err(|_| no_such_file())?;
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let source = format!("{fence}diff\n{}\n{fence}", text.trim_end_matches('\n'));
    markup(move || Markup::part(&source, Reading::Markdown, 0..source.len(), source.len())).await
}
