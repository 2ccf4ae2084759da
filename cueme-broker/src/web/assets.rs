//! The page's files, embedded.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::error::ApiError;
use super::shrink::shrink;

/// A file of the page.
struct Asset {
    name: &'static str,
    bytes: &'static [u8],
}

/// Names a file beside the list.
macro_rules! asset {
    ($name:literal) => {
        Asset {
            name: $name,
            bytes: include_bytes!($name),
        }
    };
}

/// The list lives with the files, so that whoever changes the page changes one place.
const ASSETS: &[Asset] = include!("../../ui/files.rs");

struct Served {
    bytes: Bytes,
    kind: &'static str,
    etag: HeaderValue,
}

static SERVED: LazyLock<HashMap<String, Served>> = LazyLock::new(|| {
    ASSETS
        .iter()
        .map(|asset| {
            let path = match asset.name {
                "index.html" => "/".to_owned(),
                name => format!("/{name}"),
            };
            let bytes = match std::str::from_utf8(asset.bytes) {
                Ok(source) => Bytes::from(shrink(asset.name, source)),
                Err(_) => Bytes::from_static(asset.bytes),
            };
            let served = Served {
                kind: content_type(asset.name),
                etag: etag(&bytes),
                bytes,
            };
            (path, served)
        })
        .collect()
});

/// Serves a file of the page.
pub(super) async fn asset(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = SERVED.get(uri.path()) else {
        return ApiError::not_found("nothing is here").into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        return super::api::method_not_allowed().await.into_response();
    }
    let is_known = headers.get(header::IF_NONE_MATCH) == Some(&file.etag);
    let body = if is_known {
        Body::empty()
    } else {
        Body::from(file.bytes.clone())
    };
    let mut response = Response::new(body);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let response_headers = response.headers_mut();
    response_headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    response_headers.insert(header::ETAG, file.etag.clone());
    response_headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn etag(bytes: &[u8]) -> HeaderValue {
    let digest: String = Sha256::digest(bytes)
        .iter()
        .take(10)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    HeaderValue::try_from(format!("\"{digest}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "ogg" => "audio/ogg",
        _ => "application/octet-stream",
    }
}
