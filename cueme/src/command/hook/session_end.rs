//! A session ends: what it left in the inbox is closed, and its record is removed.
//!
//! The agent's own open questions are closed too, once nobody waits for them: an answer could reach it only if somebody
//! resumed the session, and then it is told that they were closed and can ask again. Answers that it has not received
//! stay for it.

use super::agent;
use super::close::{self, SESSION_ENDED};
use super::run::Called;
use super::verdict::Verdict;
use crate::error::CliError;
use crate::host_session;

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    if called.input.subagent {
        return Ok(Verdict::pass());
    }
    let closed = close_questions(called);
    host_session::forget(called.places, called.input);
    closed.map(|()| Verdict::pass())
}

fn close_questions(called: &Called<'_>) -> Result<(), CliError> {
    match agent::of_session(called.places, called.input)? {
        Some(agent) => close::left_behind(called.places, &agent, SESSION_ENDED),
        None => Ok(()),
    }
}
