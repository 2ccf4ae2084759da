//! A human undoes an answer.

use std::sync::Arc;

use protocol_spec::message::{Failure, Undo};

use super::{Next, find_cue};
use crate::broker::Broker;
use crate::engine::Work;

pub(in crate::socket) async fn undo(broker: &Arc<Broker>, undo: Undo) -> Result<Next, Failure> {
    let cue = find_cue(broker, &undo.cue).await?;
    Ok(Next::Submit(Work::Undo(cue)))
}
