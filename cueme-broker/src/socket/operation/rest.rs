//! An agent stops waiting.

use protocol_spec::message::Rest;

use super::Next;
use crate::engine::Work;

pub(in crate::socket) fn rest(rest: &Rest) -> Next {
    Next::Submit(Work::Rest(rest.cue_id))
}
