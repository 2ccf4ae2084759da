//! `cueme cue`: an agent asks and waits.

use std::time::Instant;

use protocol_spec::envelope::{self, Envelope};
use protocol_spec::exit::Exit;
use protocol_spec::id::AgentId;
use protocol_spec::outcome::Kind;
use protocol_spec::visible::quoted;
use serde_json::value::RawValue;

use crate::agent_output::Form;
use crate::cli::{CUE_CALL, CueArgs};
use crate::client::{Question, ask_and_wait};
use crate::error::CliError;
use crate::input::read_stdin;
use crate::{environment, output};

pub(super) fn run(args: &CueArgs, started: Instant) -> Result<Exit, CliError> {
    let bytes = match &args.prompt {
        Some(prompt) => enveloped(prompt, args.payload.as_deref())?.into_bytes(),
        None => {
            check_source(args)?;
            read_stdin("the <cueme_prompt> envelope")?
        }
    };
    let text = envelope::decode(&bytes)?;
    let envelope = envelope::parse_cue(&text)?;
    if args.check {
        output::print_line(&normalised(&envelope))?;
        return Ok(Exit::Done);
    }
    let call = question(&args.agent_id, envelope)?.encode()?;
    // A wait may last for days; what was read is not kept that long. It is freed only now, because an allocator that
    // has seen one large piece freed keeps the next ones.
    drop(text);
    drop(bytes);
    ask_and_wait(&environment::places()?, call, form(args.json), started)
}

/// Writes the envelope of a question that came in parts, so that every form accepts and refuses the same.
pub(super) fn enveloped(prompt: &str, payload: Option<&str>) -> Result<String, CliError> {
    envelope::render(prompt, payload)
        .map_err(|error| CliError::usage(error.to_string()).with_hint(error.hint()))
}

/// Returns the question that an envelope asks.
pub(super) fn question(agent_id: &str, envelope: Envelope<'_>) -> Result<Question, CliError> {
    Ok(Question {
        agent_id: parse_agent(agent_id)?,
        kind: Kind::Cue,
        payload: as_written(&envelope)?,
        prompt: envelope.prompt.into_owned(),
    })
}

/// Parses the agent id of an asking agent. An invalid id counts as an unknown agent.
pub(super) fn parse_agent(text: &str) -> Result<AgentId, CliError> {
    text.parse()
        .map_err(|error| CliError::from(error).with_exit(Exit::UnknownAgent))
}

/// Returns the form in which the outcome is printed.
pub(super) fn form(is_json: bool) -> Form {
    if is_json { Form::Json } else { Form::Text }
}

/// Writes the request as one JSON object: the payload with its defaults filled, everything else as it was spelled.
pub(super) fn normalised(envelope: &Envelope<'_>) -> String {
    let prompt = serde_json::to_string(&envelope.prompt).unwrap_or_default();
    let payload = envelope
        .payload
        .as_ref()
        .map_or_else(|| "null".to_owned(), |payload| payload.normalised());
    format!("{{\"prompt\":{prompt},\"payload\":{payload}}}")
}

fn as_written(envelope: &Envelope<'_>) -> Result<Option<Box<RawValue>>, CliError> {
    let Some(payload) = &envelope.payload else {
        return Ok(None);
    };
    let raw = RawValue::from_string(payload.one_line().into_owned());
    raw.map(Some)
        .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))
}

/// Refuses a call whose question is neither on stdin nor in `--prompt`, and shows a valid one.
fn check_source(args: &CueArgs) -> Result<(), CliError> {
    let message = match args.source.as_slice() {
        [dash] if dash == "-" => return Ok(()),
        [] => "the `-` is missing: the question is read from stdin".to_owned(),
        [first, ..] => {
            format!(
                "{} is not `-`: the question is read from stdin, or from --prompt",
                quoted(first)
            )
        }
    };
    let call = CUE_CALL.replace("<agent_id>", &args.agent_id);
    Err(CliError::usage(message).with_example(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_prints_defaults_and_keeps_spelling() {
        let text = "<cueme_prompt>\nA \"b\"\n</cueme_prompt>\n<cueme_payload>\n\
                    {\"type\":\"choice\", \"options\":[\"x\"],\"n\":1.0}\n</cueme_payload>\n";
        let envelope = envelope::parse_cue(text).unwrap();
        assert_eq!(
            normalised(&envelope),
            r#"{"prompt":"A \"b\"","payload":{"type":"choice","options":["x"],"n":1.0,"allow_multiple":false}}"#
        );
        let plain = envelope::parse_cue("<cueme_prompt>\nA\n</cueme_prompt>").unwrap();
        assert_eq!(normalised(&plain), r#"{"prompt":"A","payload":null}"#);
    }

    #[test]
    fn a_question_among_the_arguments_is_answered_with_the_right_call() {
        let args = |source: &[&str]| CueArgs {
            agent_id: "bako-nefi".into(),
            source: source.iter().map(ToString::to_string).collect(),
            prompt: None,
            payload: None,
            check: false,
            json: false,
        };
        assert!(check_source(&args(&["-"])).is_ok());
        for wrong in [&[][..], &["Ship it?"], &["-", "-"]] {
            let error = check_source(&args(wrong)).unwrap_err().to_string();
            assert!(error.contains("cueme cue bako-nefi - <<'CUEME'"), "{error}");
        }
    }
}
