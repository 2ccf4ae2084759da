//! Stores an uploaded file.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::give::upload_url;
use crate::attachments::{IncomingFile, UPLOAD_BYTES_MAX};
use crate::web::error::ApiError;
use crate::web::extract::{Asked, receive};
use crate::web::state::Shared;

/// The original name of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct UploadQuery {
    name: Option<String>,
}

/// A stored file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Upload")]
pub(super) struct UploadShown {
    upload_id: String,
    url: String,
    name: String,
    media_type: String,
    bytes: u64,
}

/// Stores an uploaded file.
pub(super) async fn take(
    State(web): State<Shared>,
    Asked(query): Asked<UploadQuery>,
    request: Request,
) -> Result<(StatusCode, Json<UploadShown>), ApiError> {
    let mut incoming = IncomingFile::begin(&web.broker).await?;
    receive(request.into_body(), UPLOAD_BYTES_MAX, |chunk| {
        Ok(incoming.add(&chunk)?)
    })
    .await?;
    let upload = incoming
        .keep(&web.broker, &query.name.unwrap_or_default())
        .await?;
    Ok((
        StatusCode::CREATED,
        Json(UploadShown {
            url: upload_url(&upload.upload_id),
            upload_id: upload.upload_id,
            name: upload.name,
            media_type: upload.media_type,
            bytes: upload.bytes,
        }),
    ))
}
