//! Lists the tokens of programs.

use axum::Json;
use axum::extract::State;
use protocol_spec::message::TokenScope;
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::Token;
use crate::web::error::ApiError;
use crate::web::state::Shared;
use crate::web::view::When;

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
    expires_at: Option<When>,
    /// When it was last used, to the minute.
    used_at: Option<When>,
    /// Shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// All tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tokens {
    tokens: Vec<TokenShown>,
}

impl TokenShown {
    pub(super) fn new(token: Token, secret: Option<String>) -> Self {
        Self {
            token_id: token.token_id,
            scope: token.scope,
            agent_id: token.agent.map(String::from),
            name: token.name,
            created_at: token.created_at.into(),
            expires_at: token.expires_at.map(When::from),
            used_at: token.used_at.map(When::from),
            token: secret,
        }
    }
}

/// Lists the tokens.
pub(super) async fn list_tokens(State(web): State<Shared>) -> Result<Json<Tokens>, ApiError> {
    let tokens = web.page().tokens().await?;
    Ok(Json(Tokens {
        tokens: tokens
            .into_iter()
            .map(|token| TokenShown::new(token, None))
            .collect(),
    }))
}
