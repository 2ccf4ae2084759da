//! `cueme pause`: an agent stops until the human lets it continue.

use std::borrow::Cow;
use std::time::Instant;

use protocol_spec::envelope::{self, Envelope};
use protocol_spec::exit::Exit;
use protocol_spec::outcome::Kind;

use super::cue::{form, normalised, parse_agent};
use crate::cli::PauseArgs;
use crate::client::{Question, ask_and_wait};
use crate::error::CliError;
use crate::input::{read_stdin, words_of};
use crate::{environment, output};

/// The prompt of a pause without words.
const DEFAULT_PROMPT: &str = "The agent has paused and waits for you to let it continue.";

pub(super) fn run(args: &PauseArgs, started: Instant) -> Result<Exit, CliError> {
    let prompt = prompt_of(&words_of(&args.prompt, &args.rest))?;
    if args.check {
        let envelope = Envelope {
            prompt: Cow::Borrowed(&prompt),
            payload: None,
        };
        output::print_line(&normalised(&envelope))?;
        return Ok(Exit::Done);
    }
    ask_and_wait(
        &environment::places()?,
        question(&args.agent_id, &prompt)?.encode()?,
        form(args.json),
        started,
    )
}

/// Returns what to tell the human: the words given, the envelope on stdin, or the default.
fn prompt_of(words: &[String]) -> Result<String, CliError> {
    match words {
        [dash] if dash == "-" => {
            let bytes = read_stdin("the <cueme_prompt> envelope")?;
            let text = envelope::decode(&bytes)?;
            Ok(envelope::parse_pause(&text)?.prompt.into_owned())
        }
        words => Ok(or_default(&words.join(" "))),
    }
}

fn or_default(prompt: &str) -> String {
    match prompt.trim() {
        "" => DEFAULT_PROMPT.to_owned(),
        prompt => prompt.to_owned(),
    }
}

/// Returns the pause of an agent with these words, or the default ones where there are none.
pub(super) fn question(agent_id: &str, prompt: &str) -> Result<Question, CliError> {
    Ok(Question {
        agent_id: parse_agent(agent_id)?,
        kind: Kind::Pause,
        prompt: or_default(prompt),
        payload: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_needs_no_words_and_takes_those_it_is_given() {
        assert_eq!(prompt_of(&[]).unwrap(), DEFAULT_PROMPT);
        assert_eq!(
            prompt_of(&["Build is".into(), "green ".into()]).unwrap(),
            "Build is green"
        );
    }
}
