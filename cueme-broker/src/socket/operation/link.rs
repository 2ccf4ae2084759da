//! A link that signs a browser in, once.

use protocol_spec::message::{Failure, Reply, WebLink};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn link(broker: &Broker, link: WebLink) -> Result<Next, Failure> {
    let link = broker.page()?.make_link(link.name).await?;
    Ok(Next::Reply(Reply::WebLink(link)))
}
