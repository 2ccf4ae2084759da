//! An agent gets the session of its runtime.

use protocol_spec::message::{Bind, Failure};

use super::Next;
use crate::engine::Work;
use crate::socket::check::check_session;

pub(in crate::socket) fn bind(bind: Bind) -> Result<Next, Failure> {
    check_session(&bind.session)?;
    Ok(Next::Submit(Work::Bind {
        agent: bind.agent_id,
        session: bind.session,
    }))
}
