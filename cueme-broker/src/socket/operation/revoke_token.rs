//! Revokes a token.

use std::sync::Arc;

use protocol_spec::message::{ErrorCode, Failure, Reply, TokenRevoked};

use super::{Next, unique};
use crate::broker::Broker;

pub(in crate::socket) async fn revoke_token(broker: &Arc<Broker>, wanted: &str) -> Result<Next, Failure> {
    let page = broker.page()?;
    let found: Vec<String> = page
        .tokens()
        .await?
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
