//! The human typed into the runtime itself.
//!
//! What they decided elsewhere and the agent has not received comes along, and questions that the agent left behind
//! are closed: the human's words are there now. Messages that wait for the agent's next question stay with that.

use adapter_core::runtime::hook::HookReply;
use protocol_spec::message::{Cancel, CueView, Request, Told};
use protocol_spec::outcome::{Delivery, Origin, Outcome};

use super::run::Called;
use super::verdict::Verdict;
use super::{agent, turn_start};
use crate::client::{Call, Patience, Receipt, Signals, Waited, call, wait_for};
use crate::error::CliError;
use crate::told;

const TYPED_HERE: &str = "the human typed in the agent's own window";

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let input = called.input;
    if input.subagent {
        return Ok(Verdict::pass());
    }
    let Some(agent) = agent::of_session(called.places, input)? else {
        return Ok(Verdict::pass());
    };
    if let Some(session) = &input.session {
        turn_start::mark(called.places, session);
    }
    let (mut told, mut receipts) = (Vec::new(), Vec::new());
    for cue in agent::questions(called.places, &agent)?.iter().rev() {
        let Some((outcome, receipt)) = settle(called, cue)? else {
            continue;
        };
        // That a hook's question was closed is news to nobody.
        if !(cue.origin == Origin::Hook && outcome.outcome == Outcome::Cancelled) {
            told.push(outcome);
        }
        receipts.push(receipt);
    }
    let reply = if told.is_empty() {
        HookReply::Pass
    } else {
        HookReply::Context(told::earlier_text(&told))
    };
    Ok(Verdict::delivering(reply, receipts))
}

/// Fetches what became of a question that the agent knows nothing of yet; one that is open and left behind is closed.
fn settle(called: &Called<'_>, cue: &CueView) -> Result<Option<(Told, Receipt)>, CliError> {
    if cue.delivery == Delivery::Acknowledged {
        return Ok(None);
    }
    if cue.outcome.is_answerable() {
        // Someone still waits: another window of the same session, or a hook that the host forgot to end.
        if cue.waiting > 0 && cue.origin != Origin::Hook {
            return Ok(None);
        }
        let cancel = Cancel {
            cue: cue.cue_id.to_string(),
            reason: Some(TYPED_HERE.to_owned()),
            by: None,
        };
        call(called.places, &Request::Cancel(cancel))?;
    }
    let (signals, _switch) =
        Signals::by_switch().map_err(|error| CliError::usage(format!("could not make a pipe: {error}")))?;
    let attached = Call::attach_briefly(cue.cue_id);
    match wait_for(
        called.places,
        attached,
        Patience::UntilAsked,
        &signals,
        called.started,
    )? {
        Waited::Outcome(told, receipt) => Ok(Some((*told, receipt))),
        _ => Ok(None),
    }
}
