//! A human answers.

use std::sync::Arc;

use protocol_spec::message::{Failure, GiveAnswer};

use super::{Next, find_cue};
use crate::broker::Broker;
use crate::engine::Work;
use crate::socket::check::check_by;

pub(in crate::socket) async fn answer(broker: &Arc<Broker>, give: GiveAnswer) -> Result<Next, Failure> {
    let cue = find_cue(broker, &give.cue).await?;
    check_by(give.by.as_ref())?;
    Ok(Next::Submit(Work::Answer {
        cue,
        answer: give.answer,
        by: give.by,
        hold_ms: give.hold_ms,
    }))
}
