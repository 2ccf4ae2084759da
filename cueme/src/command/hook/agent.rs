//! The agent of a session, and what it has asked.

use protocol_spec::endpoint::Places;
use protocol_spec::id::AgentId;
use protocol_spec::message::{CueView, History, Join, NAME_BYTES_MAX, Reply, Request};
use protocol_spec::truncate::head;
use runtimes::hook::HookInput;

use crate::client::{call, expect_reply, list};
use crate::command::terminal;
use crate::error::CliError;
use crate::{environment, host_session};

/// The number of an agent's questions that are checked.
const QUESTIONS_MAX: u32 = 20;

/// Returns the agent of a host's session; `None` where the host names no session.
pub(super) fn of_session(places: &Places, input: &HookInput) -> Result<Option<AgentId>, CliError> {
    let Some(session) = &input.session else {
        return Ok(None);
    };
    if let Some(agent) = environment::driven_agent() {
        return Ok(Some(agent));
    }
    let folder = input
        .folder
        .clone()
        .or_else(|| std::env::current_dir().ok())
        .unwrap_or_default();
    let project_dir = head(&folder.to_string_lossy(), NAME_BYTES_MAX).to_owned();
    let join = Join {
        runtime: input.host.tag().parse()?,
        project_dir,
        terminal: terminal::family().to_owned(),
        session: Some(session.clone()),
    };
    let agent = expect_reply!(call(places, &Request::Join(join))?, Joined)?.agent_id;
    host_session::note(places, input, &folder, &agent);
    Ok(Some(agent))
}

/// Returns the newest questions of an agent, newest first.
pub(super) fn questions(places: &Places, agent: &AgentId) -> Result<Vec<CueView>, CliError> {
    let request = Request::History(History {
        agent: Some(agent.to_string()),
        limit: Some(QUESTIONS_MAX),
        ..History::default()
    });
    let mut found = Vec::new();
    list(places, &request, |reply| {
        if let Reply::Cue(cue) = reply {
            found.push(*cue);
        }
        Ok(())
    })?;
    Ok(found)
}
