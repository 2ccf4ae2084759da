//! Closes questions that nobody waits for any more, and says why.

use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{Ack, Cancel, Request};
use protocol_spec::outcome::Origin;

use super::agent;
use crate::client::call;
use crate::error::CliError;

/// The human's words are in the agent's own window.
pub(super) const TYPED_HERE: &str = "the human typed in the agent's own window";
/// The human has answered the host's own dialog.
pub(super) const DECIDED_HERE: &str = "the human decided in the agent's own window";
/// The host, and with it the agent, is gone.
pub(super) const HOST_ENDED: &str = "the agent's program ended";
/// The host stopped the hook.
pub(super) const HOST_LET_GO: &str = "the agent's program stopped waiting for this";
/// The session is over.
pub(super) const SESSION_ENDED: &str = "the agent's session ended";

/// Closes a question that a hook asked. The agent knows nothing of it, so it need not hear of its end either.
pub(super) fn withdraw(places: &Places, cue: CueId, reason: &str) -> Result<(), CliError> {
    cancel(places, cue, reason)?;
    let cue_ids = vec![cue];
    call(places, &Request::Ack(Ack { cue_ids, nonce: None }))?;
    Ok(())
}

/// Closes what an agent left behind; a question that somebody still waits for stays, unless a hook asked it.
///
/// The agent hears that its own questions were closed when it is next spoken to.
pub(super) fn left_behind(places: &Places, agent: &AgentId, reason: &str) -> Result<(), CliError> {
    for cue in agent::questions(places, agent)? {
        if !cue.outcome.is_answerable() {
            continue;
        }
        if cue.origin == Origin::Hook {
            withdraw(places, cue.cue_id, reason)?;
        } else if cue.waiting == 0 {
            cancel(places, cue.cue_id, reason)?;
        }
    }
    Ok(())
}

fn cancel(places: &Places, cue: CueId, reason: &str) -> Result<(), CliError> {
    let cancel = Cancel {
        cue: cue.to_string(),
        reason: Some(reason.to_owned()),
        by: None,
    };
    call(places, &Request::Cancel(cancel))?;
    Ok(())
}
