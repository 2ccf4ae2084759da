//! An agent waits again.

use protocol_spec::message::{Attach, Failure};

use super::Next;
use super::ask::check_nonce;
use crate::engine::Work;

pub(in crate::socket) fn attach(attach: &Attach) -> Result<Next, Failure> {
    check_nonce(attach.nonce.as_deref())?;
    Ok(Next::Wait(Work::Attach(attach.cue_id)))
}
