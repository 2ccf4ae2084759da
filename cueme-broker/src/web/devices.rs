//! Devices that are signed in, links that sign one in, tokens of programs.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::one;
use super::bell::Notice;
use super::door::Visitor;
use super::error::ApiError;
use super::extract::{At, Input, Named, Sent};
use super::qr;
use super::state::{Shared, Web};
use super::view::When;
use crate::store::{Device, Token};

/// A device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub(super) struct DeviceShown {
    device_id: String,
    name: String,
    created_at: When,
    seen_at: When,
    /// Whether it is the one that asks.
    current: bool,
}

/// All devices.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Devices {
    devices: Vec<DeviceShown>,
}

/// A name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NameBody {
    name: String,
}

impl Input for NameBody {}

/// What a new device is to be called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkBody {
    name: Option<String>,
}

impl Input for LinkBody {}

/// A link that signs one device in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Link {
    url: String,
    svg: Option<String>,
    expires_at: When,
    hint: Option<String>,
}

/// A token to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenBody {
    scope: ProgramScope,
    agent_id: Option<String>,
    name: Option<String>,
}

impl Input for TokenBody {}

/// What a token made on the page may open. A human's own token is made in the terminal only.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProgramScope {
    Join,
    Agent,
}

/// A token as it is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(super) struct TokenShown {
    token_id: String,
    #[schemars(with = "String")]
    scope: TokenScope,
    agent_id: Option<String>,
    name: Option<String>,
    created_at: When,
    /// Shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// All tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tokens {
    tokens: Vec<TokenShown>,
}

impl DeviceShown {
    pub(super) fn new(device: &Device, visitor: &Visitor) -> Self {
        Self {
            current: visitor.device_id() == Some(&device.device_id),
            device_id: device.device_id.clone(),
            name: device.name.clone(),
            created_at: device.created_at.into(),
            seen_at: device.seen_at.into(),
        }
    }
}

impl TokenShown {
    fn new(token: Token, secret: Option<String>) -> Self {
        Self {
            token_id: token.token_id,
            scope: token.scope,
            agent_id: token.agent.map(String::from),
            name: token.name,
            created_at: token.created_at.into(),
            token: secret,
        }
    }
}

/// Lists the devices.
pub(super) async fn list(State(web): State<Shared>, visitor: Visitor) -> Json<Devices> {
    let devices = web.keys.devices();
    Json(Devices {
        devices: devices
            .iter()
            .map(|device| DeviceShown::new(device, &visitor))
            .collect(),
    })
}

/// Names a device.
pub(super) async fn rename(
    State(web): State<Shared>,
    visitor: Visitor,
    At(device_id): At<String>,
    Sent(body): Sent<NameBody>,
) -> Result<Json<DeviceShown>, ApiError> {
    let renamed = web
        .keys
        .rename_device(&device_id, body.name.trim().to_owned())
        .await?;
    let device = renamed.ok_or_else(|| ApiError::not_found("there is no such device"))?;
    web.bell.notice(Notice::devices());
    Ok(Json(DeviceShown::new(&device, &visitor)))
}

/// Locks a device out.
pub(super) async fn revoke(
    State(web): State<Shared>,
    At(device_id): At<String>,
) -> Result<StatusCode, ApiError> {
    if !web.keys.revoke_device(&device_id).await? {
        return Err(ApiError::not_found("there is no such device"));
    }
    web.broker.push().changed();
    web.bell.notice(Notice::devices());
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a link for another device.
pub(super) async fn link(
    State(web): State<Shared>,
    Sent(body): Sent<LinkBody>,
) -> Result<Json<Link>, ApiError> {
    let (secret, expires_at) = web.keys.make_link(body.name).await?;
    let remote = web.site.remote_url(&web.broker.config().web);
    let hint = remote.is_none().then(|| unreachable_hint(&web));
    let url = format!(
        "{}/login/{}",
        remote.unwrap_or_else(|| web.site.local_url()),
        secret.expose()
    );
    Ok(Json(Link {
        svg: qr::draw(&url),
        url,
        expires_at: expires_at.into(),
        hint,
    }))
}

fn unreachable_hint(web: &Web) -> String {
    format!(
        "only this machine can open the link: set `listen = \"0.0.0.0:{}\"` in the configuration and restart the broker, or put TLS \
         in front and set `[web] url`",
        web.site.address.port()
    )
}

/// Lists the tokens.
pub(super) async fn list_tokens(State(web): State<Shared>) -> Json<Tokens> {
    let tokens = web.keys.tokens();
    Json(Tokens {
        tokens: tokens
            .into_iter()
            .map(|token| TokenShown::new(token, None))
            .collect(),
    })
}

/// Makes a token for an agent's program.
pub(super) async fn mint(
    State(web): State<Shared>,
    Sent(body): Sent<TokenBody>,
) -> Result<(StatusCode, Json<TokenShown>), ApiError> {
    let agent = body.agent_id.as_deref().map(AgentId::named).transpose()?;
    if let Some(agent) = &agent {
        one(&web, agent.clone()).await?;
    }
    let scope = match body.scope {
        ProgramScope::Join => TokenScope::Join,
        ProgramScope::Agent => TokenScope::Agent,
    };
    let (token, secret) = web.keys.mint(scope, agent, body.name).await?;
    let shown = TokenShown::new(token, Some(secret.expose().to_owned()));
    Ok((StatusCode::CREATED, Json(shown)))
}

/// Revokes a token.
pub(super) async fn revoke_token(
    State(web): State<Shared>,
    At(token_id): At<String>,
) -> Result<StatusCode, ApiError> {
    if !web.page().revoke_token(&token_id).await? {
        return Err(ApiError::not_found("there is no such token"));
    }
    Ok(StatusCode::NO_CONTENT)
}
