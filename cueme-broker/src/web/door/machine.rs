//! Linking a machine: the token of a sign-in link is exchanged, once, for tokens of the programs on that machine.
//!
//! A sign-in link opens everything a human may do, so the tokens that it is exchanged for open no more.

use axum::Json;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode, header};
use axum::response::IntoResponse;
use http_body_util::{BodyExt, Limited};
use protocol_spec::message::TokenScope;
use serde::{Deserialize, Serialize};

use super::address::Peer;
use super::guard::{unauthenticated, wrong_key};
use super::secret::Secret;
use crate::web::error::ApiError;
use crate::web::state::Web;

/// The longest request, in bytes.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// The request of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkBody {
    /// The machine's name in lists of tokens, and as the author of decisions made there.
    name: String,
    /// Whether a human answers on the machine too.
    #[serde(default)]
    human: bool,
}

/// The tokens of a machine.
#[derive(Debug, Serialize)]
struct Linked {
    agent_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    human_token: Option<String>,
}

/// Returns the code of a request to link a machine; `None` for other requests.
pub(in crate::web) fn link_code(parts: &Parts) -> Option<&str> {
    let code = parts.uri.path().strip_prefix("/link/")?;
    (parts.method == Method::POST).then_some(code)
}

/// Exchanges a link's token for tokens.
pub(in crate::web) async fn link_machine(
    web: &Web,
    parts: &Parts,
    body: Body,
    peer: Peer,
    code: &str,
) -> Result<Response<Body>, ApiError> {
    // A form of another site cannot send this, and a script of one is refused by its origin.
    let is_json = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if !is_json {
        return Err(ApiError::bad_request(
            "send a JSON object with the machine's name",
        ));
    }
    let bytes = Limited::new(body, BODY_BYTES_MAX)
        .collect()
        .await
        .map_err(|error| ApiError::bad_request(error.to_string()))?
        .to_bytes();
    let wanted: LinkBody =
        serde_json::from_slice(&bytes).map_err(|error| ApiError::bad_request(error.to_string()))?;
    let is_valid = match Secret::presented(code) {
        Some(code) => web.keys.use_link_up(&code).await?,
        None => false,
    };
    if !is_valid {
        let error = wrong_key(web, peer);
        return Err(if error.status == StatusCode::UNAUTHORIZED {
            unauthenticated().with_hint("the code was used or is too old: make a new one on the page")
        } else {
            error
        });
    }
    let mint = async |scope| {
        let (_, secret) = web
            .keys
            .mint(scope, None, Some(wanted.name.clone()), None)
            .await?;
        Ok::<_, ApiError>(secret.expose().to_owned())
    };
    let linked = Linked {
        agent_token: mint(TokenScope::Join).await?,
        human_token: match wanted.human {
            true => Some(mint(TokenScope::Human).await?),
            false => None,
        },
    };
    web.page_events.notice(crate::web::page_events::Notice::devices());
    Ok((StatusCode::CREATED, Json(linked)).into_response())
}
