//! A human or a hook closes a question.

use std::sync::Arc;

use protocol_spec::message::{Cancel, Failure};

use super::{Next, find_cue};
use crate::broker::Broker;
use crate::engine::{Closing, Work};
use crate::socket::check::{check_by, check_message};

pub(in crate::socket) async fn cancel(broker: &Arc<Broker>, cancel: Cancel) -> Result<Next, Failure> {
    let cue = find_cue(broker, &cancel.cue).await?;
    check_message(cancel.reason.as_deref())?;
    check_by(cancel.by.as_ref())?;
    Ok(Next::Submit(Work::Close {
        cue,
        verdict: Closing::Cancel(cancel.reason),
        by: cancel.by,
        hold_ms: 0,
    }))
}
