//! Upgrades a request to a connection with the protocol of the local socket, for `cueme` on other machines.
//!
//! The upgraded connection is served by the socket's own code, with the token of the request as its caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;

use super::door::{Visitor, Who};
use super::error::ApiError;
use super::patience::Patient;
use super::state::Shared;
use crate::socket::{Remote, serve_remote};

/// The name of the protocol in the `Upgrade` header.
const PROTOCOL: &str = "cueme";
/// The most upgraded connections that are served at once.
const CONNECTIONS_MAX: usize = 10_000;

static SERVED: AtomicUsize = AtomicUsize::new(0);

/// Upgrades a request that carries a token.
pub(super) async fn connect(
    State(web): State<Shared>,
    visitor: Visitor,
    mut request: Request,
) -> Result<Response<Body>, ApiError> {
    let token = match visitor.0 {
        Who::Human(token) | Who::Agent(token) => token,
        Who::Device(_) => return Err(ApiError::bad_request("programs connect here, with a token")),
        Who::Run(_) => return Err(forbidden("the token of a run is for the HTTP API alone")),
    };
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let Some(upgrade) = upgrade.filter(|_| asks_for_upgrade(request.headers())) else {
        return Err(upgrade_required());
    };
    let Some(place) = Place::take() else {
        return Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "too many connections",
        ));
    };
    let remote = Remote {
        web: Arc::clone(&web),
        token,
    };
    tokio::spawn(async move {
        let _place = place;
        match upgrade.await {
            Ok(upgraded) => serve(upgraded, remote).await,
            Err(error) => tracing::debug!(%error, "a connection was not upgraded"),
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static(PROTOCOL));
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    Ok(response)
}

async fn serve(upgraded: Upgraded, remote: Remote) {
    match upgraded.downcast::<TokioIo<Patient>>() {
        Ok(parts) => {
            let stream = parts.io.into_inner().into_inner();
            serve_remote(stream, remote, parts.read_buf.to_vec()).await;
        }
        Err(_) => tracing::error!("an upgraded connection is not one of the web server's"),
    }
}

fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    let has = |name: header::HeaderName, wanted: &str| {
        let values = headers.get_all(name).iter();
        values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|word| word.trim().eq_ignore_ascii_case(wanted))
    };
    has(header::CONNECTION, "upgrade") && has(header::UPGRADE, PROTOCOL)
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

fn upgrade_required() -> ApiError {
    ApiError::new(
        StatusCode::UPGRADE_REQUIRED,
        "upgrade_required",
        "this is where `cueme` connects, with `Upgrade: cueme`",
    )
    .with_hint("a proxy in front has to pass the headers `Connection` and `Upgrade` on")
}

/// Counts an upgraded connection for as long as it lives.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let take = |served: usize| (served < CONNECTIONS_MAX).then_some(served + 1);
        let taken = SERVED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.is_ok().then_some(Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        SERVED.fetch_sub(1, Ordering::Relaxed);
    }
}
