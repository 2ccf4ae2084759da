//! Serves connections: one task each, with a limit on everything that could be slow.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower::ServiceExt;

use super::assets;
use super::document::accepts_page;
use super::door::{
    Admitted, Peer, Refused, admit, another_user, is_opened_by_person, link_code, link_machine, login,
    login_token, sign_in_page, unauthenticated,
};
use super::health::{is_probe, probe};
use super::listener::WebListener;
use super::patience::Patient;
use super::public;
use super::state::Web;

/// The timeout of a request's head, and of a silent connection.
const HEAD_PATIENCE: Duration = Duration::from_secs(8);
/// The buffer of a connection.
const BUFFER_BYTES: usize = 64 * 1024;
/// The send buffer of a connection in the system.
const SEND_QUEUE_BYTES: usize = 128 * 1024;
/// The most connections that are served at once.
const CONNECTIONS_MAX: usize = 4096;
/// The pause of accepting when the system has no descriptors left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(20);

static CONTENT_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; \
         media-src 'self' data: blob:; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
        assets::script_sources(),
        assets::style_sources()
    );
    // The fallback for an invalid header forbids everything.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// The listener of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The page and its API.
    Page,
    /// The API for agents elsewhere, and nothing else.
    Public,
}

/// Accepts connections forever; the future is dropped to stop.
pub(crate) async fn accept(listener: WebListener, web: Arc<Web>, entrance: Entrance) -> Infallible {
    let served = Arc::new(AtomicUsize::new(0));
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                if served.load(Ordering::Relaxed) < CONNECTIONS_MAX {
                    let served = Served::count(&served);
                    tokio::spawn(serve(stream, remote, Arc::clone(&web), entrance, served));
                }
            }
            Err(error) => {
                tracing::warn!(%error, ?entrance, "could not accept a connection");
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
            }
        }
    }
}

/// Counts a connection for as long as it lives.
struct Served(Arc<AtomicUsize>);

impl Served {
    fn count(served: &Arc<AtomicUsize>) -> Self {
        served.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(served))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn serve(stream: TcpStream, remote: SocketAddr, web: Arc<Web>, entrance: Entrance, _served: Served) {
    let Ok(local) = stream.local_addr() else { return };
    // A failure of either is no reason to refuse a connection.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_QUEUE_BYTES);
    let peer = Peer { remote, local };
    // Checked once, when the connection begins: a closed socket has no user any more.
    let is_welcome = entrance == Entrance::Public || is_welcome(&web, peer).await;
    web.broker.connection_opened();
    let service = service_fn(|request: Request<Incoming>| {
        let web = Arc::clone(&web);
        async move {
            let is_opened_by_person = is_opened_by_person(request.headers());
            let mut response = match entrance {
                _ if !is_welcome => refuse(),
                _ if is_probe(request.uri().path()) => probe(&web, request.uri().path()).await,
                Entrance::Page => respond(&web, request, peer).await,
                Entrance::Public => public::respond(&web, request, peer).await,
            };
            harden(&mut response);
            if !is_opened_by_person {
                isolate_from_opener(&mut response);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream)), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, %remote, ?entrance, "a connection ended early");
    }
    web.broker.connection_closed();
}

/// Says whether the user on the other end of a connection may use the page at all.
///
/// If the page is for this machine alone, the other end is on this machine, too, with any address.
async fn is_welcome(web: &Web, peer: Peer) -> bool {
    if !web.site.is_for_this_machine_alone(&web.broker.config().web) {
        return true;
    }
    let user = web.peer_users.find(peer).await;
    let is_welcome = user.is_welcome(web.broker.uid());
    if !is_welcome {
        tracing::warn!(?user, "refused a connection of another user to the page");
    }
    is_welcome
}

/// Refuses a request, and closes the connection.
fn refuse() -> Response<Body> {
    let mut response = another_user().into_response();
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Answers one request: authenticates it first, then routes it.
async fn respond(web: &Arc<Web>, request: Request<Incoming>, peer: Peer) -> Response<Body> {
    let (parts, body) = request.into_parts();
    match admit(web, &parts, peer).await {
        Ok(admitted) => route(web, parts, Body::new(body), peer, admitted).await,
        Err(Refused { error, may_sign_in }) => match login_token(&parts).filter(|_| may_sign_in) {
            // A browser whose sign-in was revoked may sign in anew.
            Some(_) => route(web, parts, Body::new(body), peer, Admitted::Unknown).await,
            None if may_sign_in && is_navigation(&parts) => sign_in_page(&error),
            None => error.into_response(),
        },
    }
}

async fn route(
    web: &Arc<Web>,
    mut parts: Parts,
    body: Body,
    peer: Peer,
    admitted: Admitted,
) -> Response<Body> {
    if let Some(code) = link_code(&parts) {
        let code = code.to_owned();
        let linked = link_machine(web, &parts, body, peer, &code).await;
        return linked.unwrap_or_else(IntoResponse::into_response);
    }
    if let Some(token) = login_token(&parts) {
        let is_signed_in = matches!(admitted, Admitted::Known(_));
        let token = token.to_owned();
        return match login(web, &parts, peer, &token, is_signed_in).await {
            Ok(response) => response,
            Err(error) if is_navigation(&parts) && error.status == StatusCode::UNAUTHORIZED => {
                sign_in_page(&error)
            }
            Err(error) => error.into_response(),
        };
    }
    match admitted {
        Admitted::Unknown if is_navigation(&parts) => sign_in_page(&unauthenticated()),
        Admitted::Unknown => unauthenticated().into_response(),
        Admitted::Known(visitor) => {
            parts.extensions.insert(visitor);
            let request = Request::from_parts(parts, body);
            match web.router().clone().oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    }
}

/// Says whether a person looks at the response.
fn is_navigation(parts: &Parts) -> bool {
    !parts.uri.path().starts_with("/api/") && accepts_page(&parts.headers)
}

/// Adds the headers of every response.
fn harden(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert_with(|| CONTENT_POLICY.clone());
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
}

/// Isolates the page from the page that opened it, which could navigate the window elsewhere at the right moment.
///
/// With the header, the browser discards a process that it has already started, and the page loads a quarter later. So
/// the header is sent only where such a page may exist.
fn isolate_from_opener(response: &mut Response<Body>) {
    response.headers_mut().insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
}
