//! A tool is about to run, or the runtime would ask for permission: the human is asked through the broker instead.

use adapter_core::runtime::hook::{HookReply, ToolCall, is_only_cueme};
use protocol_spec::answer::Reply;
use protocol_spec::id::AgentId;
use protocol_spec::message::Told;
use protocol_spec::outcome::{Kind, Origin, Outcome};
use serde_json::Value;
use serde_json::value::RawValue;

use super::agent;
use super::cut::beginning;
use super::native_question::NativeQuestion;
use super::run::Called;
use super::verdict::Verdict;
use crate::client::{Question, Taken, ask_and_take, mint};
use crate::error::CliError;

const APPROVAL: &str = r#"{"type":"confirm","confirm_label":"Allow","cancel_label":"Deny"}"#;
/// How much of a tool's input is shown.
const INPUT_BYTES_MAX: usize = 64 * 1024;

pub(super) fn decide(called: &Called<'_>) -> Result<Verdict, CliError> {
    let Some(tool) = &called.input.tool else {
        return Ok(Verdict::pass());
    };
    // Asking whether the human may be asked would be absurd.
    if is_only_cueme(tool) {
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
            let taken = ask(called, agent, described(called, tool), APPROVAL, Origin::Approval)?;
            Ok(verdict(taken, approval))
        }
    }
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
    ask_and_take(called.places, question.encode_as(mint(), origin, None)?)
}

/// Whatever is no decision leaves the host to its own dialog.
///
/// An answer that the agent has missed decides nothing here and has no place in the reply: it stays undelivered.
fn verdict(taken: Taken, reply: impl FnOnce(&Told) -> HookReply) -> Verdict {
    match taken {
        Taken::Outcome { told, receipt, .. } if told.outcome != Outcome::Cancelled => {
            Verdict::delivering(reply(&told), vec![receipt])
        }
        Taken::Outcome { receipt, .. } => Verdict::delivering(HookReply::Pass, vec![receipt]),
        Taken::Stopped => Verdict::pass(),
    }
}

fn approval(told: &Told) -> HookReply {
    let reply = told.answer.as_ref().and_then(|answer| answer.reply.as_ref());
    match reply {
        Some(Reply::Confirm { confirmed: true }) => HookReply::Allow,
        _ => HookReply::Deny(told.text.clone()),
    }
}

fn answers(asked: &NativeQuestion, tool: &ToolCall, told: &Told) -> HookReply {
    match (&told.answer, told.outcome) {
        (Some(answer), Outcome::Answered) => HookReply::Answers {
            input: asked.answered(&tool.input, answer),
            text: told.text.clone(),
        },
        _ => HookReply::Deny(told.text.clone()),
    }
}

fn described(called: &Called<'_>, tool: &ToolCall) -> String {
    let shown = match tool.input.get("command").and_then(Value::as_str) {
        Some(command) => command.to_owned(),
        None => serde_json::to_string_pretty(&tool.input).unwrap_or_default(),
    };
    let kept = beginning(&shown, INPUT_BYTES_MAX);
    let cut = if kept.len() < shown.len() { "\n[…]" } else { "" };
    // A fence that the text itself does not contain, so that it cannot end early.
    let longest = kept.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let folder = called
        .input
        .folder
        .as_ref()
        .map_or_else(String::new, |folder| format!(" in {}", folder.display()));
    format!("May {} run{folder}?\n\n{fence}\n{kept}{cut}\n{fence}", tool.name)
}
