//! Settled questions are deleted.

use std::sync::Arc;
use std::time::Duration;

use protocol_spec::message::{Failure, Purge, Purged, Reply};

use super::Next;
use crate::broker::Broker;

pub(in crate::socket) async fn purge(broker: &Arc<Broker>, purge: Purge) -> Result<Next, Failure> {
    let age = Duration::from_millis(purge.older_than_ms);
    let cues = broker.purge(age, purge.dry_run).await?;
    if !purge.dry_run {
        let broker = Arc::clone(broker);
        tokio::spawn(async move { broker.shrink().await });
    }
    Ok(Next::Reply(Reply::Purged(Purged { cues })))
}
