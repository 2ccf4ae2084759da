//! Makes a token for an agent's program.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::token_list::TokenShown;
use crate::web::agent::one;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Named, Sent};
use crate::web::page_events::Notice;
use crate::web::state::Shared;

/// A token to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenBody {
    scope: ProgramScope,
    agent_id: Option<String>,
    name: Option<String>,
    /// After how many seconds it stops working; never unless given.
    expires_in: Option<u64>,
}

impl Input for TokenBody {}

/// The scopes of a token made on the page. A human's own token is made in the terminal only.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProgramScope {
    Join,
    Agent,
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
    let life = body.expires_in.map(Duration::from_secs);
    let (token, secret) = web.keys.mint(scope, agent, body.name, life).await?;
    web.page_events.notice(Notice::devices());
    let shown = TokenShown::new(token, Some(secret.expose().to_owned()));
    Ok((StatusCode::CREATED, Json(shown)))
}
