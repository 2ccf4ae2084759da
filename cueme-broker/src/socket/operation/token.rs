//! A key for a program that uses the HTTP API.

use std::sync::Arc;

use protocol_spec::message::{Failure, MintToken, Reply};

use super::{Next, find_agent};
use crate::broker::Broker;

pub(in crate::socket) async fn token(broker: &Arc<Broker>, mint: MintToken) -> Result<Next, Failure> {
    let web = broker.web()?;
    let agent = match &mint.agent {
        Some(agent) => Some(find_agent(broker, agent).await?),
        None => None,
    };
    let token = web.mint(mint.scope, agent, mint.name).await?;
    Ok(Next::Reply(Reply::Token(token)))
}
