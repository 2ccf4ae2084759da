//! Lists the acknowledged deliveries of one turn of an agent.

use std::sync::Arc;

use protocol_spec::message::{Failure, ReceiptList, Receipts, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn receipts(broker: &Arc<Broker>, wanted: Receipts) -> Result<Next, Failure> {
    let receipts = broker.read(move |reader| reader.receipts(&wanted.nonce)).await?;
    Ok(Next::Reply(Reply::Receipts(ReceiptList { receipts })))
}
