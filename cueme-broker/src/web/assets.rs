//! The page's files, embedded as `ui/build.mjs` built them.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// A file of the page.
struct Asset {
    path: &'static str,
    bytes: &'static [u8],
    etag: &'static str,
    /// Whether its name changes with its content, so that a browser caches it forever.
    is_immutable: bool,
}

// `ASSETS`; `INLINE_SCRIPTS` and `INLINE_STYLES`, the digests of the document's own elements for the content security policy;
// and `STATE_AT`, how many bytes of the document come before the state.
include!("../../ui/dist/page.rs");

/// The scripts that the content security policy allows: our files, and the inline scripts of the document.
pub(super) fn script_sources() -> String {
    format!("'self' {INLINE_SCRIPTS}")
}

/// The styles that the content security policy allows: the inline styles of the document.
pub(super) fn style_sources() -> &'static str {
    INLINE_STYLES
}

/// Returns the document, split where the state is inserted.
pub(super) fn document() -> (&'static str, &'static str) {
    let document = ASSETS.iter().find(|file| file.path == "/");
    let text = document.and_then(|file| std::str::from_utf8(file.bytes).ok());
    text.and_then(|text| text.split_at_checked(STATE_AT))
        .unwrap_or_default()
}

/// Serves a file of the page.
pub(super) async fn asset(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = ASSETS.iter().find(|file| file.path == uri.path()) else {
        return ApiError::not_found("nothing is here").into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        return super::api::method_not_allowed().await.into_response();
    }
    let known = headers.get(header::IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| known.as_bytes() == file.etag.as_bytes());
    let body = if is_known {
        Body::empty()
    } else {
        Body::from(Bytes::from_static(file.bytes))
    };
    let mut response = Response::new(body);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let caching = if file.is_immutable {
        "private, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    for (name, value) in [
        (header::CONTENT_TYPE, content_type(file.path)),
        (header::ETAG, file.etag),
        (header::CACHE_CONTROL, caching),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "/" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
