//! A human declines.

use std::sync::Arc;

use protocol_spec::message::{Decline, Failure};

use super::{Next, find_cue};
use crate::broker::Broker;
use crate::engine::{Closing, Work};
use crate::socket::check::{check_by, check_message};

pub(in crate::socket) async fn decline(broker: &Arc<Broker>, decline: Decline) -> Result<Next, Failure> {
    let cue = find_cue(broker, &decline.cue).await?;
    check_message(decline.reason.as_deref())?;
    check_by(decline.by.as_ref())?;
    Ok(Next::Submit(Work::Close {
        cue,
        verdict: Closing::Decline(decline.reason),
        by: decline.by,
        hold_ms: 0,
    }))
}
