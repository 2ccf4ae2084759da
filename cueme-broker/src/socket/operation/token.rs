//! Makes a token for a program that speaks over HTTP.

use std::sync::Arc;
use std::time::Duration;

use protocol_spec::message::{Failure, MintToken, Reply};

use super::{Next, find_agent};
use crate::broker::Broker;

pub(in crate::socket) async fn token(broker: &Arc<Broker>, mint: MintToken) -> Result<Next, Failure> {
    let page = broker.page()?;
    let agent = match &mint.agent {
        Some(agent) => Some(find_agent(broker, agent).await?),
        None => None,
    };
    let token = page
        .mint(
            &broker.config().web,
            mint.scope,
            agent,
            mint.name,
            mint.expires_in_ms.map(Duration::from_millis),
        )
        .await?;
    Ok(Next::Reply(Reply::Token(token)))
}
