//! A session begins or is resumed: its agent is told who it is, so that it knows even after a compaction.

use std::collections::BTreeMap;

use runtimes::hook::HookReply;

use super::agent;
use super::run::Called;
use super::verdict::Verdict;
use crate::environment::AGENT_VARIABLE;
use crate::error::CliError;
use crate::host_session::SESSION_VARIABLE;

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let input = called.input;
    if input.subagent {
        return Ok(Verdict::pass());
    }
    let (Some(session), Some(agent)) = (&input.session, agent::of_session(called.places, input)?) else {
        return Ok(Verdict::pass());
    };
    let context = format!(
        "cueme: you have joined already and your agent_id is {agent}. Joining again returns the same one. Before each \
         summary and before you finish, ask the human with `cueme cue {agent} -` (envelope on stdin) or the MCP tool \
         `cue`, and wait for what it prints; `cueme pause {agent}` waits until they let you continue."
    );
    let variables = BTreeMap::from([
        (AGENT_VARIABLE.to_owned(), agent.to_string()),
        (SESSION_VARIABLE.to_owned(), session.clone()),
    ]);
    Ok(Verdict::just(HookReply::Environment { variables, context }))
}
