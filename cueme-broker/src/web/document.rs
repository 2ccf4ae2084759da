//! The page's document, with the state in it if a person opens it.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::Response;

use super::assets;
use super::door::Visitor;
use super::snapshot::{Snapshot, look};
use super::state::Shared;

/// Serves the document.
///
/// A person who opens it sees the inbox as soon as the document has loaded. The service worker caches it for when no
/// broker answers, and gets it without the state, which would be outdated then.
pub(super) async fn document(
    State(web): State<Shared>,
    visitor: Visitor,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let snapshot = if accepts_page(&headers) {
        // Without the state, the page requests it, and shows the error.
        let looked = look(&web, &visitor).await;
        looked
            .inspect_err(|error| tracing::warn!(?error, "the page is served without its state"))
            .ok()
    } else {
        None
    };
    let mut response = match snapshot {
        Some(snapshot) => with_state(&snapshot),
        None => assets::asset(method, uri, headers).await,
    };
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Says whether a person will look at the response.
pub(super) fn accepts_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    accepted.is_some_and(|accepted| accepted.as_bytes().windows(9).any(|part| part == b"text/html"))
}

fn with_state(snapshot: &Snapshot) -> Response {
    let (before, after) = assets::document();
    let state = in_markup(snapshot);
    let mut response = Response::new(Body::from([before, &state, after].concat()));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    response
}

/// Encodes JSON so that no text in it can end it early: nothing in it begins a tag or a comment.
fn in_markup(data: &impl serde::Serialize) -> String {
    // A state that cannot be encoded is left out; the page requests it.
    let json = serde_json::to_string(data).unwrap_or_default();
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_place_of_the_state_early() {
        let texts = [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "a < b",
            "数据 & \"quoted\"",
        ];
        let written = in_markup(&texts);
        assert!(!written.contains('<'), "{written}");
        let read: Vec<String> = serde_json::from_str(&written).unwrap();
        assert_eq!(read, texts);
    }
}
