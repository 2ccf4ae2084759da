//! Keys for programs that speak over HTTP: make one, list them, revoke one.

use std::sync::Arc;

use protocol_spec::message::{ErrorCode, Failure, MintToken, Reply, TokenList, TokenRevoked, TokenView};

use super::{Next, find_agent, unique};
use crate::broker::Broker;
use crate::store::Token;

pub(in crate::socket) async fn token(broker: &Arc<Broker>, mint: MintToken) -> Result<Next, Failure> {
    let page = broker.page()?;
    let agent = match &mint.agent {
        Some(agent) => Some(find_agent(broker, agent).await?),
        None => None,
    };
    let token = page
        .mint(&broker.config().web, mint.scope, agent, mint.name)
        .await?;
    Ok(Next::Reply(Reply::Token(token)))
}

pub(in crate::socket) fn tokens(broker: &Arc<Broker>) -> Result<Next, Failure> {
    let tokens = broker.page()?.tokens().into_iter().map(shown).collect();
    Ok(Next::Reply(Reply::Tokens(TokenList { tokens })))
}

pub(in crate::socket) async fn revoke(broker: &Arc<Broker>, wanted: &str) -> Result<Next, Failure> {
    let page = broker.page()?;
    let found: Vec<String> = page
        .tokens()
        .into_iter()
        .filter(|token| token.token_id.starts_with(wanted) || token.name.as_deref() == Some(wanted))
        .map(|token| token.token_id)
        .collect();
    let token_id = unique(
        &found,
        wanted,
        ErrorCode::NotFound,
        "token",
        "`cueme token list` lists them",
    )?;
    page.revoke_token(&token_id).await?;
    Ok(Next::Reply(Reply::TokenRevoked(TokenRevoked { token_id })))
}

fn shown(token: Token) -> TokenView {
    TokenView {
        token_id: token.token_id,
        scope: token.scope,
        agent_id: token.agent,
        name: token.name,
        created_at: token.created_at,
    }
}
