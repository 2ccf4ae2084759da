//! Deletes a file that no answer carries.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;

use super::give::find;
use crate::attachments::remove_ours;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// Deletes a file that no answer carries.
pub(super) async fn discard(
    State(web): State<Shared>,
    At(upload_id): At<String>,
) -> Result<StatusCode, ApiError> {
    let upload = find(&web, &upload_id).await?;
    if !web.write(move |store, _| store.drop_upload(&upload_id)).await? {
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "already_released",
            "an answer carries this file",
        ));
    }
    remove_ours(&web.broker.places().attachments(), Path::new(&upload.path));
    Ok(StatusCode::NO_CONTENT)
}
