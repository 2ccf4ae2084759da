//! Describes the broker.

use protocol_spec::message::{Failure, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn status(broker: &Broker) -> Result<Next, Failure> {
    Ok(Next::Reply(Reply::Status(broker.status().await?)))
}
