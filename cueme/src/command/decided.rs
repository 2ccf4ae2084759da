//! The message after a decision: whether it was delivered, and only what is certain.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Decided, Request};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;

use crate::client::{call, expect_reply};
use crate::display::now;
use crate::error::CliError;
use crate::output;

/// Sends a decision and prints its state.
pub(super) fn send(places: &Places, request: &Request) -> Result<Exit, CliError> {
    let decided = expect_reply!(call(places, request)?, Decided)?;
    output::print_line(&words(&decided, now()))?;
    Ok(Exit::Done)
}

/// Says to whom a decision was delivered, or when it will be.
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
            "{verb} {cue_id}: {agent_id} gets it in {left} s; until then, `cueme undo {cue_id}` takes it back"
        );
    }
    let who = match decided.handed_to {
        0 => format!("{agent_id} is not listening; it gets this when it asks again"),
        1 => format!("delivered to {agent_id}"),
        clients => format!("delivered to {agent_id} ({clients} clients)"),
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
        assert!(words(&decided(0)).contains("is not listening; it gets this when it asks again"));
        assert!(words(&decided(1)).contains(": delivered to bako-nefi"));
        assert!(words(&decided(2)).contains("delivered to bako-nefi (2 clients)"));
        let held = Decided {
            released_at: Some(Timestamp::from_millis(5500)),
            ..decided(1)
        };
        assert!(words(&held).contains("gets it in 5 s; until then, `cueme undo "));
    }
}
