//! `cueme say`: a human leaves a note for their next answer, or queues an answer for the agent's next question.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Purpose, Request, Said, Say};

use crate::cli::SayArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::input::{text_of, words_of};
use crate::{environment, output};

pub(super) fn run(args: &SayArgs) -> Result<Exit, CliError> {
    let text =
        text_of(&words_of(&args.text, &args.rest), "the message")?.filter(|text| !text.trim().is_empty());
    let Some(text) = text else {
        return Err(CliError::usage("the message is empty")
            .with_hint(format!("run `cueme say {} \"your message\"`", args.agent_id)));
    };
    let purpose = if args.next {
        Purpose::QueuedAnswer
    } else {
        Purpose::Note
    };
    let say = Say {
        agent: args.agent_id.clone(),
        text,
        purpose,
        by: environment::user(),
    };
    let said = expect_reply!(call(&environment::places()?, &Request::Say(say))?, Said)?;
    output::print_line(&words(&said, purpose))?;
    Ok(Exit::Done)
}

/// Says what a message is for and how many wait; a second line names the question that is open now.
pub(crate) fn words(said: &Said, purpose: Purpose) -> String {
    let Said { agent_id, queued, .. } = said;
    let count = if *queued == 1 {
        "1 message waits".to_owned()
    } else {
        format!("{queued} messages wait")
    };
    let meaning = match purpose {
        Purpose::Note => format!("note saved: shown above your next answer to {agent_id}"),
        Purpose::QueuedAnswer => {
            format!("queued: it answers the next plain question of {agent_id} before you see it")
        }
    };
    let mut text = format!("{meaning} ({count})");
    if let Some(cue) = &said.open_cue {
        text.push_str(&if said.waiting > 0 {
            format!("\nit is waiting for an answer right now: `cueme answer {cue}` reaches it at once")
        } else {
            format!("\nit is not listening: `cueme answer {cue}` reaches it when it asks again")
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::id::CueId;

    fn said(waiting: u32) -> Said {
        Said {
            agent_id: "bako-nefi".parse().unwrap(),
            queued: 2,
            open_cue: Some(CueId::from_random(1)),
            waiting,
        }
    }

    #[test]
    fn a_message_for_an_agent_that_waits_points_to_the_question() {
        let text = words(&said(1), Purpose::Note);
        assert!(
            text.contains("2 messages wait") && text.contains("cueme answer") && text.contains("at once"),
            "{text}"
        );
    }

    #[test]
    fn nothing_reaches_an_agent_at_once_that_stopped_listening() {
        for purpose in [Purpose::Note, Purpose::QueuedAnswer] {
            let text = words(&said(0), purpose);
            assert!(
                !text.contains("at once") && text.contains("when it asks again"),
                "{text}"
            );
        }
    }
}
