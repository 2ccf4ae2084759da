//! A human leaves a note, or an answer for the next question.

use std::sync::Arc;

use protocol_spec::message::{Failure, Say};

use super::{Next, find_agent};
use crate::broker::Broker;
use crate::engine::Work;
use crate::socket::check::{check_by, check_message};

pub(in crate::socket) async fn say(broker: &Arc<Broker>, say: Say) -> Result<Next, Failure> {
    let agent = find_agent(broker, &say.agent).await?;
    check_message(Some(&say.text))?;
    check_by(say.by.as_ref())?;
    Ok(Next::Submit(Work::Say {
        agent,
        text: say.text,
        purpose: say.purpose,
        by: say.by,
    }))
}
