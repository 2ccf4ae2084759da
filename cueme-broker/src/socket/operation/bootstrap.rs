//! Makes a one-time token for an agent's run.

use protocol_spec::message::{Failure, MintBootstrap, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn bootstrap(broker: &Broker, mint: MintBootstrap) -> Result<Next, Failure> {
    Ok(Next::Reply(Reply::Bootstrap(broker.mint_bootstrap(mint).await?)))
}
