//! An agent takes everything that a human left for it.

use protocol_spec::message::{Collect, Failure};

use super::Next;
use crate::engine::Work;
use crate::socket::check::check_message;

pub(in crate::socket) fn collect(collect: Collect) -> Result<Next, Failure> {
    check_message(collect.close.as_deref())?;
    Ok(Next::Submit(Work::Collect {
        agent: collect.agent_id,
        close: collect.close,
    }))
}
