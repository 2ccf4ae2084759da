//! A session ends: what it left in the inbox is closed.
//!
//! The agent's own open questions are closed too, once nobody waits for them: an answer could reach it only if somebody
//! resumed the session, and then it is told that they were closed and can ask again. Answers that it has not received
//! stay for it.

use super::agent;
use super::close::{self, SESSION_ENDED};
use super::run::Called;
use super::verdict::Verdict;
use crate::error::CliError;

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    if called.input.subagent {
        return Ok(Verdict::pass());
    }
    if let Some(agent) = agent::of_session(called.places, called.input)? {
        close::left_behind(called.places, &agent, SESSION_ENDED)?;
    }
    Ok(Verdict::pass())
}
