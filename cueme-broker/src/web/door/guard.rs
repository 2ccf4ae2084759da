//! Authenticates a request, before anything else is decided about it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use protocol_spec::message::TokenScope;

use super::address::{Peer, Source, comes_from, is_safe, own_host};
use super::secret::Secret;
use crate::broker::wall_clock;
use crate::store::{Device, Pass, Token};
use crate::web::error::ApiError;
use crate::web::state::Web;

/// The path of the API for agents; their tokens open nothing else.
const AGENTS_PATH: &str = "/api/v1/hap/";

/// The identity of a request's sender.
#[derive(Debug, Clone)]
pub(in crate::web) enum Who {
    /// A browser that signed in.
    Device(Device),
    /// A human's program.
    Human(Token),
    /// An agent with a token of its machine.
    Agent(Token),
    /// The agent of a run, with the token of that run. It is in no table and ends with the run.
    Run(Token),
}

/// The visitor of an admitted request.
#[derive(Debug, Clone)]
pub(in crate::web) struct Visitor(pub(in crate::web) Who);

impl Visitor {
    /// Returns the name that others see.
    pub(in crate::web) fn name(&self) -> Option<String> {
        match &self.0 {
            Who::Device(device) => Some(device.name.clone()),
            Who::Human(token) | Who::Agent(token) | Who::Run(token) => token.name.clone(),
        }
    }

    /// Returns the pass, which the engine checks again when it decides. A run's token is in no table and has none.
    pub(in crate::web) fn pass(&self) -> Option<Pass> {
        match &self.0 {
            Who::Device(device) => Some(Pass::Device(device.device_id.clone())),
            Who::Human(token) | Who::Agent(token) => Some(Pass::Token(token.token_id.clone())),
            Who::Run(_) => None,
        }
    }

    /// Returns the device, if it is one.
    pub(in crate::web) fn device_id(&self) -> Option<&str> {
        match &self.0 {
            Who::Device(device) => Some(&device.device_id),
            Who::Human(_) | Who::Agent(_) | Who::Run(_) => None,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(unauthenticated)
    }
}

/// The reason why a request was turned away.
#[derive(Debug)]
pub(in crate::web) struct Refused {
    pub(in crate::web) error: ApiError,
    /// Whether signing in would help.
    pub(in crate::web) may_sign_in: bool,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            may_sign_in: false,
        }
    }
}

/// The result of authentication: a known visitor, or one who may only sign in.
#[derive(Debug)]
pub(in crate::web) enum Admitted {
    Known(Visitor),
    Unknown,
}

/// Admits a request, or returns the reason for the refusal.
pub(in crate::web) async fn admit(web: &Web, parts: &Parts, peer: Peer) -> Result<Admitted, Refused> {
    let config = web.broker.config();
    let Some(host) = own_host(parts, peer, &config.web) else {
        return Err(forbidden("this host name is not served here")
            .with_hint(
                "open the link that `cueme ui` prints, or add the name to `[web] hosts` in the configuration",
            )
            .into());
    };
    let source = comes_from(parts, host, &config.web);
    if source == Source::Elsewhere {
        return Err(forbidden("the request comes from another page")
            .with_hint("if a tunnel changes `Origin`, add its value to `[web] origins` in the configuration")
            .into());
    }
    if let Some(bearer) = bearer(parts) {
        return match minted_token(web, bearer).await? {
            Some(token) => admit_program(token, parts)
                .map(Admitted::Known)
                .map_err(Refused::from),
            None => Err(wrong_key(web, peer).into()),
        };
    }
    match cookie(parts, &web.cookie_name()) {
        None => Ok(Admitted::Unknown),
        Some(cookie) => {
            let device = match Secret::presented(cookie) {
                Some(secret) => {
                    let found = web.keys.find_device(&secret.hash(), wall_clock()).await;
                    found.map_err(ApiError::from)?
                }
                None => None,
            };
            let Some(device) = device else {
                return Err(Refused {
                    error: wrong_key(web, peer),
                    may_sign_in: true,
                });
            };
            // A browser sends its cookie with requests of every site; only the origin shows that the request is from
            // our page.
            if !is_safe(parts) && source != Source::OurPage {
                return Err(forbidden("the request does not say that it comes from this page").into());
            }
            if parts.uri.path().starts_with(AGENTS_PATH) {
                return Err(forbidden("this route is for agents")
                    .with_hint("send an agent's token as `Authorization: Bearer`")
                    .into());
            }
            Ok(Admitted::Known(Visitor(Who::Device(device))))
        }
    }
}

fn admit_program(token: Token, parts: &Parts) -> Result<Visitor, ApiError> {
    let is_agents_path = parts.uri.path().starts_with(AGENTS_PATH);
    match token.scope {
        TokenScope::Human if !is_agents_path => Ok(Visitor(Who::Human(token))),
        TokenScope::Join | TokenScope::Agent if is_agents_path => Ok(Visitor(Who::Agent(token))),
        scope @ (TokenScope::Human | TokenScope::Join | TokenScope::Agent) => Err(wrong_scope(scope)),
    }
}

/// Refuses a token on a route for tokens of another scope.
pub(super) fn wrong_scope(scope: TokenScope) -> ApiError {
    /// Agents read hints too, so this one names who creates such a token.
    const FOR_A_HUMAN: &str = "a human creates a token for it with `cueme token --scope human`";
    let (name, hint) = match scope {
        TokenScope::Human => (
            "human",
            "create a token for agents with `cueme token --scope join`",
        ),
        TokenScope::Join => ("join", FOR_A_HUMAN),
        TokenScope::Agent => ("agent", FOR_A_HUMAN),
    };
    forbidden(&format!("a token of scope `{name}` cannot use this route")).with_hint(hint)
}

/// Finds the token that a program presents; one that has expired is refused with that reason.
pub(super) async fn minted_token(web: &Web, bearer: &str) -> Result<Option<Token>, ApiError> {
    let Some(hash) = Secret::presented(bearer).map(|secret| secret.hash()) else {
        return Ok(None);
    };
    web.keys.learn_token(&hash).await?;
    let now = wall_clock();
    if web.keys.has_expired(&hash, now) {
        return Err(expired("the token has expired")
            .with_hint("`cueme token` makes another one, `cueme link` links a machine again"));
    }
    Ok(web.keys.token(&hash, now))
}

pub(super) fn wrong_key(web: &Web, peer: Peer) -> ApiError {
    match web.keys.count_failure(peer.remote.ip()) {
        Some(seconds) => ApiError {
            retry_after: Some(seconds),
            ..ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_failures",
                "too many wrong tokens came from this address",
            )
            .with_hint(format!("try again in {seconds} s"))
        },
        None => unauthenticated(),
    }
}

pub(in crate::web) fn unauthenticated() -> ApiError {
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        "unauthenticated",
        "this browser or program is not signed in",
    )
    .with_hint("run `cueme ui` and open the link it prints")
}

/// Refuses a visitor because the page belongs to another user of this machine.
pub(in crate::web) fn another_user() -> ApiError {
    forbidden("this page belongs to another user of this machine").with_hint(
        "open it as its own user; behind a proxy, set `[web] url` in the configuration; agents of other users use \
         `public_listen`",
    )
}

pub(super) fn expired(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "expired", message)
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

pub(in crate::web) fn bearer(parts: &Parts) -> Option<&str> {
    let value = parts.headers.get(header::AUTHORIZATION)?;
    // A malformed header is a wrong token, not an absent one.
    let text = value.to_str().unwrap_or_default();
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    Some(if scheme.eq_ignore_ascii_case("bearer") {
        token.trim()
    } else {
        ""
    })
}

pub(in crate::web) fn cookie<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    let cookies = parts.headers.get_all(header::COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
