//! The agent ends its turn: unless it just heard from the human, the human is asked.
//!
//! Only a human's word continues a turn, so there is nothing that could loop: no answer, no continuation.

use adapter_core::runtime::Runtime;
use adapter_core::runtime::hook::{
    HookReply, ToolCall, Turn, TurnStatus, cued_agent, is_cue_call, read_turn,
};
use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Ack, Cancel, CueView, Mailbox, Request};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;

use super::cut::beginning;
use super::lease::{Lease, request_of};
use super::run::Called;
use super::verdict::Verdict;
use super::{agent, continuation, log, turn_start};
use crate::client::{Call, Patience, Question, Receipt, Signals, Waited, call, mint, wait_for};
use crate::display::now;
use crate::error::CliError;
use crate::told::{self, Form};

/// Where the host does not tell the turn's last call, a delivery this fresh is taken for it.
const FRESH_MS_MAX: u64 = 120_000;
const WITHOUT_ASKING: &str =
    "(The agent ended its turn without asking. Your answer continues it; declining lets it end.)";
const WITHOUT_A_WORD: &str = "The agent ended its turn without a word.";
const CUT: &str = "\n[…]";

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let input = called.input;
    if input.subagent || input.background_work || input.status != TurnStatus::Completed {
        return Ok(Verdict::pass());
    }
    let Some(session) = &input.session else {
        return Ok(Verdict::pass());
    };
    let turn = last_turn(called);
    let key = input.turn_key(turn.id.as_deref());
    let lease = match &key {
        None => None,
        Some(key) => match Lease::take(called.places, key)? {
            Some(lease) => Some(lease),
            None => return Ok(Verdict::pass()),
        },
    };
    let Some(own) = agent::of_session(called.places, input)? else {
        return Ok(Verdict::pass());
    };
    let verdict = match standing(called, session, &turn, &own)? {
        Standing::Heard => Verdict::pass(),
        Standing::Asked(cue) => wait_for_own(called, cue)?,
        Standing::Silent => ask(called, &turn, own, key.as_deref())?,
    };
    if let HookReply::Continue(text) = &verdict.reply {
        turn_start::mark(called.places, session);
        continuation::note(called.places, session, text);
    }
    Ok(verdict.under(lease))
}

/// How the turn ended, as far as the human is concerned.
enum Standing {
    /// The human's word reached the agent last.
    Heard,
    /// The agent asked, and what became of that has not reached it.
    Asked(CueId),
    /// The agent did not ask.
    Silent,
}

/// Reads what the transcript says of the turn; what the host itself says counts more.
fn last_turn(called: &Called<'_>) -> Turn {
    let input = called.input;
    let mut turn = match input.transcript.as_deref().map(read_turn) {
        Some(Ok(turn)) => turn.unwrap_or_default(),
        Some(Err(error)) => {
            log::note(
                called.places,
                &format!("{}: could not read the transcript: {error}", input.host),
            );
            Turn::default()
        }
        None => Turn::default(),
    };
    if input.last_message.is_some() {
        turn.last_message.clone_from(&input.last_message);
    }
    if input.last_call.is_some() {
        turn.last_call.clone_from(&input.last_call);
    }
    turn
}

fn standing(called: &Called<'_>, session: &str, turn: &Turn, own: &AgentId) -> Result<Standing, CliError> {
    let began = turn_start::of(called.places, session);
    let agent = match &turn.last_call {
        Some(call) if !is_cue_call(call) => return Ok(Standing::Silent),
        Some(call) => named(call).unwrap_or_else(|| own.clone()),
        None => own.clone(),
    };
    // An id that nobody has joined with has asked nothing.
    let questions = agent::questions(called.places, &agent).unwrap_or_default();
    let newest = questions.iter().find(|cue| cue.origin == Origin::Agent);
    Ok(match newest {
        Some(cue) if is_heard(cue, began, turn.last_call.is_some()) => Standing::Heard,
        Some(cue) if cue.delivery != Delivery::Acknowledged => Standing::Asked(cue.cue_id),
        _ => Standing::Silent,
    })
}

fn named(call: &ToolCall) -> Option<AgentId> {
    cued_agent(call)?.parse().ok()
}

fn is_heard(cue: &CueView, began: Option<Timestamp>, is_call_known: bool) -> bool {
    let Some(at) = cue.acknowledged_at else {
        return false;
    };
    let in_turn = began.is_none_or(|began| at >= began);
    in_turn && (is_call_known || now().millis_since(at) <= FRESH_MS_MAX)
}

/// Waits for the question that the agent itself asked.
fn wait_for_own(called: &Called<'_>, cue: CueId) -> Result<Verdict, CliError> {
    let call = match patience(called.input.host) {
        Patience::UntilAsked => Call::attach_briefly(cue),
        _ => Call::attach(cue, None),
    };
    Ok(match wait(called, call)? {
        Waited::Outcome(told, receipt) if told.outcome == Outcome::Answered => {
            answered(Form::Text.outcome(&told), receipt)
        }
        // A refusal lets the turn end; the agent reads of it when it is next spoken to.
        _ => Verdict::pass(),
    })
}

/// Asks in the agent's place.
fn ask(called: &Called<'_>, turn: &Turn, agent: AgentId, key: Option<&str>) -> Result<Verdict, CliError> {
    let question = Question {
        agent_id: agent,
        kind: Kind::Cue,
        prompt: prompt(turn.last_message.as_deref()),
        payload: None,
    };
    let id = key.map_or_else(mint, request_of);
    Ok(match wait(called, question.encode_as(id, Origin::Hook, None)?)? {
        Waited::Outcome(told, receipt) if told.outcome == Outcome::Answered => {
            answered(Form::Text.outcome(&told), receipt)
        }
        Waited::Outcome(_, receipt) => Verdict::delivering(HookReply::Pass, vec![receipt]),
        Waited::Mailbox(mailbox, receipt) => {
            withdraw(called, &mailbox);
            answered(told::earlier_text(&mailbox.earlier), receipt)
        }
        Waited::Rested(_) | Waited::Stopped(..) => Verdict::pass(),
    })
}

fn answered(text: String, receipt: Receipt) -> Verdict {
    Verdict::delivering(HookReply::Continue(text), vec![receipt])
}

/// Closes our question again: the turn goes on with what the human said to an earlier one.
fn withdraw(called: &Called<'_>, mailbox: &Mailbox) {
    let cancel = Request::Cancel(Cancel {
        cue: mailbox.cue_id.to_string(),
        reason: Some("the turn went on with an earlier answer".to_owned()),
        by: None,
    });
    let ack = Request::Ack(Ack {
        cue_ids: vec![mailbox.cue_id],
        nonce: None,
    });
    if let Err(error) = call(called.places, &cancel).and_then(|_| call(called.places, &ack)) {
        log::note(called.places, &format!("could not withdraw a question: {error}"));
    }
}

fn wait(called: &Called<'_>, call: Call) -> Result<Waited, CliError> {
    let signals = Signals::catch()
        .map_err(|error| CliError::usage(format!("could not listen for signals: {error}")))?;
    wait_for(
        called.places,
        call,
        patience(called.input.host),
        &signals,
        called.started,
    )
}

/// Hosts that cannot continue a turn would only be held up: their agent gets the answer when it is next spoken to.
fn patience(host: Runtime) -> Patience {
    match host {
        Runtime::Windsurf | Runtime::Kiro | Runtime::AgentsMd | Runtime::Terminal => Patience::UntilAsked,
        _ => Patience::Unlimited,
    }
}

fn prompt(message: Option<&str>) -> String {
    let message = message.map(str::trim).filter(|text| !text.is_empty());
    let message = message.unwrap_or(WITHOUT_A_WORD);
    let room = PROMPT_BYTES_MAX - WITHOUT_ASKING.len() - CUT.len() - 2;
    if message.len() <= room {
        return format!("{message}\n\n{WITHOUT_ASKING}");
    }
    let kept = beginning(message, room);
    format!("{kept}{CUT}\n\n{WITHOUT_ASKING}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_the_agents_last_message_and_never_too_long() {
        assert!(prompt(Some(" Done. ")).starts_with("Done.\n\n("));
        assert!(prompt(Some("  ")).starts_with(WITHOUT_A_WORD));
        let long = prompt(Some(&"数".repeat(PROMPT_BYTES_MAX)));
        assert!(long.len() <= PROMPT_BYTES_MAX && long.ends_with(WITHOUT_ASKING));
    }
}
