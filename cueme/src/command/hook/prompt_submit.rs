//! The human typed into the runtime itself.
//!
//! The hook adds decisions and messages that the human made elsewhere and the agent has not received, and closes the
//! agent's abandoned questions: the human's message is there now.

use protocol_spec::id::CueId;
use protocol_spec::message::{Collect, Collected, Request};
use runtimes::hook::{HookReply, encode};

use super::close::{self, TYPED_HERE};
use super::run::Called;
use super::verdict::Verdict;
use super::{agent, continuation, turn_start};
use crate::agent_output::{self, Form};
use crate::client::{Receipt, call, expect_reply};
use crate::error::CliError;

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let input = called.input;
    let Some(session) = input.session.as_deref().filter(|_| !input.subagent) else {
        return Ok(Verdict::pass());
    };
    if is_of_the_host(called, session) || continuation::is_it(called.places, session, input.prompt.as_deref())
    {
        return Ok(Verdict::pass());
    }
    let Some(agent) = agent::of_session(called.places, input)? else {
        return Ok(Verdict::pass());
    };
    turn_start::mark(called.places, session, input.prompt_id.as_deref());
    if !listens(called) {
        close::left_behind(called.places, &agent, TYPED_HERE)?;
        return Ok(Verdict::pass());
    }
    let collect = Collect {
        agent_id: agent,
        close: Some(TYPED_HERE.to_owned()),
    };
    let collected = expect_reply!(call(called.places, &Request::Collect(collect))?, Collected)?;
    let cues = cues_of(&collected);
    let receipts = if cues.is_empty() {
        Vec::new()
    } else {
        vec![Receipt::of(cues)]
    };
    let text = words(&collected);
    let reply = if text.is_empty() {
        HookReply::Pass
    } else {
        HookReply::Context(text)
    };
    Ok(Verdict::delivering(reply, receipts))
}

/// Tells whether nobody has typed and the host only goes on with the turn: no words, or the prompt that the turn began with.
fn is_of_the_host(called: &Called<'_>, session: &str) -> bool {
    let input = called.input;
    if input.is_submitted || !input.host.calls_prompt_hook_itself() {
        return false;
    }
    let is_same =
        || input.prompt_id.is_some() && turn_start::prompt_id(called.places, session) == input.prompt_id;
    input.prompt.is_none() || is_same()
}

fn words(collected: &Collected) -> String {
    let mut text = match &collected.messages {
        Some(messages) => Form::Text.outcome(messages) + "\n",
        None => String::new(),
    };
    text.push_str(&agent_output::earlier_text(&collected.earlier));
    text
}

fn cues_of(collected: &Collected) -> Vec<CueId> {
    let told = collected.messages.iter().chain(&collected.earlier);
    told.map(|told| told.cue_id)
        .chain(collected.closed.iter().copied())
        .collect()
}

/// Says whether the host takes words beside the human's own. One that does not must not be handed any.
fn listens(called: &Called<'_>) -> bool {
    let spoken = encode(called.input, &HookReply::Context("words".to_owned()));
    spoken != encode(called.input, &HookReply::Pass)
}
