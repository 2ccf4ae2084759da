//! Signing in: a link's token is exchanged, once, for a cookie.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};

use super::address::Peer;
use super::guard::{unauthenticated, wrong_key};
use super::secret::Secret;
use crate::web::error::ApiError;
use crate::web::state::Web;

/// The lifetime of the cookie, in seconds: the most that browsers allow.
const COOKIE_LIFE_S: u32 = 400 * 24 * 60 * 60;

const SIGN_IN_PAGE: &str = include_str!("sign_in.html");
/// The content security policy of that page: only its own style, named by its digest.
const SIGN_IN_POLICY: &str = "default-src 'none'; style-src 'sha256-SqMktXoGda1w5c6nOlPnofGeh5Z+yv4ArcR7wKq7pHY='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the token in a link, if the request follows one.
pub(in crate::web) fn login_token(parts: &Parts) -> Option<&str> {
    let path = parts.uri.path();
    if let Some(token) = path.strip_prefix("/login/") {
        return Some(token);
    }
    let query = parts.uri.query().filter(|_| path == "/")?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Exchanges a link's token for a cookie.
pub(in crate::web) async fn login(
    web: &Web,
    parts: &Parts,
    peer: Peer,
    token: &str,
    is_signed_in: bool,
) -> Result<Response<Body>, ApiError> {
    if parts.method != Method::GET {
        return Err(ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "a link is opened with GET",
        ));
    }
    // A browser that prefetches must not use the link up.
    if parts.headers.contains_key("sec-purpose") || parts.headers.contains_key("purpose") {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "a link works once, when it is opened",
        ));
    }
    // Opening the same link again in the same browser opens the page.
    if is_signed_in {
        return to_page(None);
    }
    let browser = browser_name(parts.headers.get(header::USER_AGENT));
    let signed_in = match Secret::presented(token) {
        Some(token) => web.keys.sign_in(&token, browser).await?,
        None => None,
    };
    let Some(cookie) = signed_in else {
        let error = wrong_key(web, peer);
        return Err(if error.status == StatusCode::UNAUTHORIZED {
            unauthenticated().with_hint("the link was used or is too old: run `cueme ui` for a new one")
        } else {
            error
        });
    };
    web.page_events.notice(crate::web::page_events::Notice::devices());
    let is_https = web.broker.config().web.is_https(parts.headers.get(header::HOST));
    let secure = if is_https { "; Secure" } else { "" };
    to_page(Some(&format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_LIFE_S}{secure}",
        web.cookie_name(),
        cookie.expose()
    )))
}

fn to_page(cookie: Option<&str>) -> Result<Response<Body>, ApiError> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static("/"));
    if let Some(cookie) = cookie {
        let value = HeaderValue::from_str(cookie).map_err(|error| {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string())
        })?;
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}

/// Returns the page for a person who is not signed in.
///
/// Its link to the page itself helps browsers that withhold the cookie because the first click came from another site.
pub(in crate::web) fn sign_in_page(error: &ApiError) -> Response<Body> {
    let mut response = Response::new(Body::from(SIGN_IN_PAGE));
    *response.status_mut() = error.status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    response.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(SIGN_IN_POLICY),
    );
    response
}

/// Names a browser as a person would.
fn browser_name(agent: Option<&HeaderValue>) -> String {
    let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let first = |names: &[(&str, &'static str)], otherwise| {
        names
            .iter()
            .find(|(mark, _)| agent.contains(mark))
            .map_or(otherwise, |(_, name)| *name)
    };
    // The order matters: most browsers also claim to be the ones below them.
    let browser = first(
        &[
            ("Edg/", "Edge"),
            ("OPR/", "Opera"),
            ("Firefox/", "Firefox"),
            ("Chrome/", "Chrome"),
            ("CriOS/", "Chrome"),
            ("Safari/", "Safari"),
        ],
        "browser",
    );
    let system = first(
        &[
            ("iPhone", "iPhone"),
            ("iPad", "iPad"),
            ("Android", "Android"),
            ("Windows", "Windows"),
            ("Mac OS X", "Mac"),
            ("Linux", "Linux"),
        ],
        "an unknown system",
    );
    format!("{browser} on {system}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_names_people_know() {
        let name = |agent: &'static str| browser_name(Some(&HeaderValue::from_static(agent)));
        assert_eq!(
            name(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile/15E Safari/604.1"
            ),
            "Safari on iPhone"
        );
        assert_eq!(
            name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
            "Firefox on Linux"
        );
        assert_eq!(name("curl/8"), "browser on an unknown system");
    }
}
