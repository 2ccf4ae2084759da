//! Serves a file, without anything that a browser could run.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::attachments::{bytes_of, is_shown};
use crate::store::Upload;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::{Shared, Web};

/// Returns the path to fetch a file.
pub(in crate::web) fn upload_url(upload_id: &str) -> String {
    format!("/api/v1/uploads/{upload_id}")
}

/// Serves a file.
pub(super) async fn give(State(web): State<Shared>, At(upload_id): At<String>) -> Result<Response, ApiError> {
    let upload = find(&web, &upload_id).await?;
    let path = upload.path.clone();
    let bytes = web.read(move |reader| bytes_of(reader, &path)).await?;
    let is_shown = is_shown(&upload.media_type);
    let kind = match upload.media_type.as_str() {
        "text/plain" => "text/plain; charset=utf-8",
        media_type if is_shown => media_type,
        _ => "application/octet-stream",
    };
    let disposition = disposition(is_shown, &upload.name);
    inert(bytes, kind, &disposition, "private, max-age=86400, immutable")
}

pub(super) async fn find(web: &Web, upload_id: &str) -> Result<Upload, ApiError> {
    let id = upload_id.to_owned();
    let upload = web.read(move |reader| reader.upload(&id)).await?;
    upload.ok_or_else(|| ApiError::not_found("there is no such file"))
}

/// Names a file for a download, in ASCII for old browsers and in full for others.
fn disposition(is_shown: bool, name: &str) -> String {
    let how = if is_shown { "inline" } else { "attachment" };
    let ascii: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || "._- ".contains(letter) {
                letter
            } else {
                '_'
            }
        })
        .collect();
    let encoded: String = name
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    format!("{how}; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}

/// Returns bytes of which the browser runs nothing, and nothing of which reaches the page.
pub(in crate::web) fn inert(
    bytes: Vec<u8>,
    kind: &str,
    disposition: &str,
    cache: &'static str,
) -> Result<Response, ApiError> {
    let mut response = Body::from(bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header_value(kind)?);
    headers.insert(header::CONTENT_DISPOSITION, header_value(disposition)?);
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    Ok(response)
}

fn header_value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text)
        .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let header = disposition(false, "a\"; x=\"<b>\r\n.html");
        assert!(
            header.starts_with("attachment; filename=\"a__ x___b__"),
            "{header}"
        );
        assert!(
            !header.contains('\n') && header.matches('"').count() == 2,
            "{header}"
        );
    }
}
