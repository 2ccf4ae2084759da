//! The message after a decision: whether the agent has received it, and nothing that is not certain.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Decided, Request};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;

use crate::client::{call, expect_reply};
use crate::display::now;
use crate::error::CliError;
use crate::output;

/// Sends a decision and tells what became of it.
pub(super) fn send(places: &Places, request: &Request) -> Result<Exit, CliError> {
    let decided = expect_reply!(call(places, request)?, Decided)?;
    output::print_line(&words(&decided, now()))?;
    Ok(Exit::Done)
}

/// Says who has a decision, or when they get it.
pub(crate) fn words(decided: &Decided, now: Timestamp) -> String {
    let Decided { cue_id, agent_id, .. } = decided;
    let verb = match decided.outcome {
        Outcome::Answered => "answered",
        Outcome::Declined => "declined",
        Outcome::Cancelled => "closed",
        Outcome::Open | Outcome::Superseded => "noted",
    };
    if let Some(released_at) = decided.released_at {
        let left = released_at.millis_since(now).div_ceil(1000);
        return format!(
            "{verb} {cue_id}: agent {agent_id} gets this in {left} s; until then `cueme undo {cue_id}` takes it back"
        );
    }
    let who = match decided.handed_to {
        0 => format!("agent {agent_id} stopped listening; it gets this when it asks again"),
        1 => format!("handed to the waiting client of agent {agent_id}"),
        clients => format!("handed to {clients} waiting clients of agent {agent_id}"),
    };
    format!("{verb} {cue_id}: {who}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::id::CueId;

    #[test]
    fn an_answer_nobody_waits_for_is_not_called_delivered() {
        let decided = |handed_to| Decided {
            cue_id: CueId::from_random(3),
            agent_id: "bako-nefi".parse().unwrap(),
            outcome: Outcome::Answered,
            handed_to,
            released_at: None,
        };
        let words = |decided: &Decided| words(decided, Timestamp::from_millis(1000));
        assert!(words(&decided(0)).contains("stopped listening; it gets this when it asks again"));
        assert!(words(&decided(1)).contains("handed to the waiting client"));
        assert!(words(&decided(2)).contains("2 waiting clients"));
        let held = Decided {
            released_at: Some(Timestamp::from_millis(5500)),
            ..decided(1)
        };
        assert!(words(&held).contains("gets this in 5 s; until then `cueme undo "));
    }
}
