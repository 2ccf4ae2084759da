//! An agent that has forgotten its id describes itself.

use std::sync::Arc;

use protocol_spec::message::{Failure, Recall, Recalled, Reply};

use super::Next;
use crate::broker::Broker;
use crate::store::Recollection;

pub(in crate::socket) async fn recall(broker: &Arc<Broker>, recall: Recall) -> Result<Next, Failure> {
    // The best match of a part of the past may be another agent. Without storage, what is indexed has to do.
    broker.engine().catch_up().await.ok();
    let found = broker.read(move |reader| reader.recall(&recall.hints, recall.project_dir.as_deref()));
    Ok(Next::Reply(Reply::Recalled(recalled(found.await?))))
}

/// Candidates are separate, so that a client which does not know them takes none of them for a match.
pub(in crate::socket) fn recalled(found: Recollection) -> Recalled {
    let (matches, candidates) = if found.is_clear {
        (found.matches, Vec::new())
    } else {
        (Vec::new(), found.matches)
    };
    Recalled { matches, candidates }
}
