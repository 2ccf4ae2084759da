//! A tool is about to run, or the runtime would ask for permission: the human is asked through the broker instead.

use adapter_core::hap::approval_prompt;
use protocol_spec::answer::{Reply, consent};
use protocol_spec::id::AgentId;
use protocol_spec::message::DeliveredOutcome;
use protocol_spec::outcome::{Kind, Origin, Outcome};
use protocol_spec::payload::{Payload, Shape};
use runtimes::hook::{HookReply, ToolCall, is_own_call};
use serde_json::value::RawValue;

use super::native_question::NativeQuestion;
use super::run::Called;
use super::verdict::Verdict;
use super::{agent, log, waiting};
use crate::client::{Question, Taken, mint};
use crate::environment;
use crate::error::CliError;

const APPROVAL: &str = r#"{"type":"confirm","confirm_label":"Allow","cancel_label":"Deny"}"#;

/// Lets one of our own calls through; says nothing about any other.
pub(super) fn let_own_call_through(called: &Called<'_>) -> Verdict {
    match &called.input.tool {
        Some(tool) if is_ours(called, tool) => Verdict::just(HookReply::Allow),
        _ => Verdict::pass(),
    }
}

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let Some(tool) = &called.input.tool else {
        return Ok(Verdict::pass());
    };
    // Asking whether the human may be asked would be absurd.
    if is_ours(called, tool) {
        return Ok(Verdict::just(HookReply::Allow));
    }
    let Some(agent) = agent::of_session(called.places, called.input)? else {
        return Ok(Verdict::pass());
    };
    match NativeQuestion::parse(tool) {
        Some(asked) => {
            let taken = ask(called, agent, asked.prompt(), &asked.payload(), Origin::Agent)?;
            Ok(verdict(taken, |told| answers(&asked, tool, told)))
        }
        None => {
            let Some(prompt) = approval_prompt(&tool.name, &tool.input, called.input.folder.as_deref())
            else {
                log::note(
                    called.places,
                    &format!(
                        "{}: the input of {} is too large to show whole",
                        called.input.host, tool.name
                    ),
                );
                return Ok(Verdict::pass());
            };
            let taken = ask(called, agent, prompt, APPROVAL, Origin::Approval)?;
            Ok(verdict(taken, approval))
        }
    }
}

fn is_ours(called: &Called<'_>, tool: &ToolCall) -> bool {
    is_own_call(called.input.host, tool, &environment::own_paths())
}

fn ask(
    called: &Called<'_>,
    agent_id: AgentId,
    prompt: String,
    payload: &str,
    origin: Origin,
) -> Result<Taken, CliError> {
    let payload = RawValue::from_string(payload.to_owned())
        .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))?;
    let question = Question {
        agent_id,
        kind: Kind::Cue,
        prompt,
        payload: Some(payload),
    };
    waiting::ask_and_take(called, question.encode_as(mint(), origin, None)?)
}

/// Without a decision the host shows its own dialog.
///
/// An answer that the agent has missed decides nothing here and has no place in the reply: it stays undelivered.
fn verdict(taken: Taken, reply: impl FnOnce(&DeliveredOutcome) -> HookReply) -> Verdict {
    match taken {
        Taken::Outcome { told, receipt, .. } if told.outcome != Outcome::Cancelled => {
            Verdict::delivering(reply(&told), vec![receipt])
        }
        Taken::Outcome { receipt, .. } => Verdict::delivering(HookReply::Pass, vec![receipt]),
        Taken::Stopped(_) => Verdict::pass(),
    }
}

/// A button or a plain word decides; any other words are the reason of a refusal.
fn approval(told: &DeliveredOutcome) -> HookReply {
    let is_allowed = match &told.answer {
        Some(answer) => match (&answer.reply, &answer.text) {
            (Some(Reply::Confirm { confirmed }), _) => *confirmed,
            (None, Some(text)) => means_allow(text),
            _ => false,
        },
        None => false,
    };
    if is_allowed && told.outcome == Outcome::Answered {
        HookReply::Allow
    } else {
        HookReply::Deny(told.text.clone())
    }
}

fn means_allow(text: &str) -> bool {
    let payload = Payload::parse(APPROVAL).ok();
    match payload.as_ref().map(Payload::shape) {
        Some(Shape::Confirm(confirm)) => consent(text, confirm) == Some(true),
        _ => false,
    }
}

fn answers(asked: &NativeQuestion, tool: &ToolCall, told: &DeliveredOutcome) -> HookReply {
    match (&told.answer, told.outcome) {
        (Some(answer), Outcome::Answered) => HookReply::Answers {
            input: asked.answered(&tool.input, answer),
            text: told.text.clone(),
        },
        _ => HookReply::Deny(told.text.clone()),
    }
}
