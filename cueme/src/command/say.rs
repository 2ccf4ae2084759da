//! `cueme say`: a human leaves a message for an agent's next question.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Request, Said, Say};

use crate::cli::SayArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::input::text_of;
use crate::{output, surroundings};

pub(super) fn run(args: &SayArgs) -> Result<Exit, CliError> {
    let text = text_of(&args.text, "the message")?.filter(|text| !text.trim().is_empty());
    let Some(text) = text else {
        return Err(CliError::usage("the message is empty")
            .with_hint(format!("run `cueme say {} \"your message\"`", args.agent_id)));
    };
    let say = Say {
        agent: args.agent_id.clone(),
        text,
        by: surroundings::user(),
    };
    let said = expect_reply!(call(&surroundings::places()?, &Request::Say(say))?, Said)?;
    output::print_line(&words(&said))?;
    Ok(Exit::Done)
}

fn words(said: &Said) -> String {
    let Said { agent_id, queued, .. } = said;
    let count = if *queued == 1 {
        "1 message waits".to_owned()
    } else {
        format!("{queued} messages wait")
    };
    let mut text = format!("kept: {count} for the next question of agent {agent_id}");
    if let Some(cue) = &said.open_cue {
        text.push_str(&format!(
            "\nit is waiting for an answer right now: `cueme answer {cue}` reaches it at once"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::id::CueId;

    #[test]
    fn a_message_for_an_agent_that_waits_points_to_the_question() {
        let said = Said {
            agent_id: "bako-nefi".parse().unwrap(),
            queued: 2,
            open_cue: Some(CueId::from_random(1)),
        };
        let text = words(&said);
        assert!(
            text.contains("2 messages wait") && text.contains("cueme answer"),
            "{text}"
        );
    }
}
