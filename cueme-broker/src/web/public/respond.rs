//! Answers one request of the listener for agents elsewhere.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use tower::ServiceExt;

use super::routes::is_for_everybody;
use crate::web::door::{Peer, admit_outside, outsider};
use crate::web::state::Web;

/// Answers a request: authenticates it first, then routes it.
pub(in crate::web) async fn respond(
    web: &Arc<Web>,
    request: Request<Incoming>,
    peer: Peer,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    match admit_outside(web, &parts, peer).await {
        Err(error) => return error.into_response(),
        Ok(Some(visitor)) => {
            parts.extensions.insert(visitor);
        }
        Ok(None) if is_for_everybody(parts.uri.path()) => {}
        // A request without credentials learns nothing about the routes.
        Ok(None) => return outsider().into_response(),
    }
    let request = Request::from_parts(parts, Body::new(body));
    match web.public_router().clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
