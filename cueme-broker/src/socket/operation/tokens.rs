//! Lists the tokens.

use std::sync::Arc;

use protocol_spec::message::{Failure, Reply, TokenList, TokenView};

use super::Next;
use crate::broker::Broker;
use crate::store::Token;

pub(in crate::socket) async fn tokens(broker: &Arc<Broker>) -> Result<Next, Failure> {
    let tokens = broker.page()?.tokens().await?;
    let tokens = tokens.into_iter().map(shown).collect();
    Ok(Next::Reply(Reply::Tokens(TokenList { tokens })))
}

fn shown(token: Token) -> TokenView {
    TokenView {
        token_id: token.token_id,
        scope: token.scope,
        agent_id: token.agent,
        name: token.name,
        created_at: token.created_at,
        expires_at: token.expires_at,
        used_at: token.used_at,
    }
}
