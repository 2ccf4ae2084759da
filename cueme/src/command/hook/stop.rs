//! The agent ends its turn: unless it just heard from the human, the human is asked.
//!
//! Only a human's word continues a turn, so there is nothing that could loop: no answer, no continuation.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use protocol_spec::envelope::PROMPT_BYTES_MAX;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{CueView, Mailbox};
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::time::Timestamp;
use protocol_spec::truncate::head;
use runtimes::Runtime;
use runtimes::hook::{CallResult, HookReply, ToolCall, Turn, TurnStatus, cued_agent, is_cue_call, read_turn};

use super::lease::{Lease, request_of};
use super::run::Called;
use super::verdict::Verdict;
use super::waiting::Waiting;
use super::{agent, continuation, log, turn_start};
use crate::agent_output::{self, Form};
use crate::client::{self, Call, Patience, Question, Receipt, Waited, mint, wait_for};
use crate::display::now;
use crate::error::CliError;

/// Where the host does not record how the turn's last call ended, a delivery this fresh is taken for it.
const FRESH_MS_MAX: u64 = 120_000;
/// The timeout for the record of a turn's end, by a host that writes it late.
const RECORD_WAIT_MAX: Duration = Duration::from_secs(2);
/// The pause between two looks at the transcript.
const RECORD_PAUSE: Duration = Duration::from_millis(25);
/// The exit codes of a cue that leave its question open.
const EXITS_OPEN: [i64; 2] = [75, 76];
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
        turn_start::mark(called.places, session, input.prompt_id.as_deref());
        continuation::note(called.places, session, text);
    }
    Ok(verdict.under(lease))
}

/// The state of the conversation with the human at the end of the turn.
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
    let mut turn = match input
        .transcript
        .as_deref()
        .map(|path| recorded_turn(called, path))
    {
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
    if let Some(told) = &input.last_message
        && !(input.host.tells_all_messages() && ends_with_recorded(told, &turn))
    {
        turn.last_message = Some(told.clone());
    }
    if input.last_call.is_some() {
        turn.last_call.clone_from(&input.last_call);
        turn.last_result.clone_from(&input.last_result);
    }
    turn
}

/// Tells whether the recorded message is the end of what the host told.
fn ends_with_recorded(told: &str, turn: &Turn) -> bool {
    let recorded = turn.last_message.as_deref().map(str::trim);
    recorded.is_some_and(|recorded| !recorded.is_empty() && told.trim_end().ends_with(recorded))
}

/// Reads the transcript; one that is written late is read again until it has the end of the turn.
fn recorded_turn(called: &Called<'_>, path: &Path) -> io::Result<Option<Turn>> {
    let input = called.input;
    let deadline = Instant::now() + RECORD_WAIT_MAX;
    loop {
        let read = read_turn(path);
        let turn = read.as_ref().ok().and_then(Option::as_ref);
        let is_late = input.host.records_turn_late() && !input.is_recorded_in(turn);
        if !is_late || Instant::now() >= deadline {
            return read;
        }
        thread::sleep(RECORD_PAUSE);
    }
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
        Some(cue) if is_heard(cue, began, &turn.last_result) => Standing::Heard,
        Some(cue) if is_left_open(cue, began, &turn.last_result) => Standing::Asked(cue.cue_id),
        _ => Standing::Silent,
    })
}

fn named(call: &ToolCall) -> Option<AgentId> {
    cued_agent(call)?.parse().ok()
}

/// The host's record and the broker's receipt must agree; where the host has none, a fresh receipt is enough.
fn is_heard(cue: &CueView, began: Option<Timestamp>, result: &CallResult) -> bool {
    let Some(at) = cue.acknowledged_at else {
        return false;
    };
    let is_humans = matches!(cue.outcome, Outcome::Answered | Outcome::Declined);
    let in_turn = began.is_none_or(|began| at >= began);
    let is_recorded = match result {
        CallResult::Succeeded => true,
        CallResult::Unknown => now().millis_since(at) <= FRESH_MS_MAX,
        CallResult::Failed { .. } | CallResult::Running { .. } => false,
    };
    is_humans && in_turn && is_recorded
}

/// Tells whether the agent's call left this question behind. A call that failed may never have asked it.
fn is_left_open(cue: &CueView, began: Option<Timestamp>, result: &CallResult) -> bool {
    let in_turn = began.is_none_or(|began| cue.asked_at >= began);
    let is_this = match result {
        CallResult::Failed { exit } => exit.is_some_and(|code| EXITS_OPEN.contains(&code)) || in_turn,
        _ => true,
    };
    is_this && cue.delivery != Delivery::Acknowledged
}

/// Waits for the question that the agent itself asked.
fn wait_for_own(called: &Called<'_>, cue: CueId) -> Result<Verdict, CliError> {
    let call = match patience(called.input.host) {
        Patience::UntilAsked => Call::attach_briefly(cue),
        _ => Call::attach(cue, None),
    };
    let waiting = Waiting::begin(called)?;
    Ok(match wait(called, call, &waiting)? {
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
    let waiting = Waiting::begin(called)?;
    if waiting.is_over() {
        return Ok(Verdict::pass());
    }
    let call = question.encode_as(id, Origin::Hook, None)?;
    Ok(match wait(called, call, &waiting)? {
        Waited::Outcome(told, receipt) if told.outcome == Outcome::Answered => {
            answered(Form::Text.outcome(&told), receipt)
        }
        Waited::Outcome(_, receipt) => Verdict::delivering(HookReply::Pass, vec![receipt]),
        Waited::Mailbox(mailbox, receipt) => {
            withdraw(called, &mailbox);
            answered(agent_output::earlier_text(&mailbox.earlier), receipt)
        }
        Waited::Rested(_) => Verdict::pass(),
        Waited::Stopped(_, cue) => {
            waiting.withdraw(called, cue);
            Verdict::pass()
        }
    })
}

fn answered(text: String, receipt: Receipt) -> Verdict {
    Verdict::delivering(HookReply::Continue(text), vec![receipt])
}

/// Closes our question again: the turn goes on with what the human said to an earlier one.
fn withdraw(called: &Called<'_>, mailbox: &Mailbox) {
    let reason = "the turn went on with an earlier answer";
    if let Err(error) = client::withdraw(called.places, mailbox.cue_id, reason) {
        log::note(called.places, &format!("could not withdraw a question: {error}"));
    }
}

fn wait(called: &Called<'_>, call: Call, waiting: &Waiting) -> Result<Waited, CliError> {
    wait_for(
        called.places,
        call,
        patience(called.input.host),
        &waiting.signals,
        called.started,
    )
}

/// Hosts that cannot continue a turn would only be held up: their agent gets the answer when it is next spoken to.
fn patience(host: Runtime) -> Patience {
    if host.facts().holds_turn {
        Patience::Unlimited
    } else {
        Patience::UntilAsked
    }
}

fn prompt(message: Option<&str>) -> String {
    let message = message.map(str::trim).filter(|text| !text.is_empty());
    let message = message.unwrap_or(WITHOUT_A_WORD);
    let room = PROMPT_BYTES_MAX - WITHOUT_ASKING.len() - CUT.len() - 2;
    if message.len() <= room {
        return format!("{message}\n\n{WITHOUT_ASKING}");
    }
    let kept = head(message, room);
    format!("{kept}{CUT}\n\n{WITHOUT_ASKING}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_tells_all_messages_is_asked_about_the_last() {
        let turn = |text: &str| Turn {
            last_message: Some(text.to_owned()),
            ..Turn::default()
        };
        let told = "The parser is renamed.\nThe lexer is renamed.\n";
        assert!(ends_with_recorded(told, &turn("The lexer is renamed.")));
        for stale in ["The parser is renamed.", " ", "renamed"] {
            assert!(!ends_with_recorded(told, &turn(stale)), "{stale}");
        }
        assert!(!ends_with_recorded(told, &Turn::default()));
    }

    #[test]
    fn the_question_is_the_agents_last_message_and_never_too_long() {
        assert!(prompt(Some(" Done. ")).starts_with("Done.\n\n("));
        assert!(prompt(Some("  ")).starts_with(WITHOUT_A_WORD));
        let long = prompt(Some(&"数".repeat(PROMPT_BYTES_MAX)));
        assert!(long.len() <= PROMPT_BYTES_MAX && long.ends_with(WITHOUT_ASKING));
    }
}
