//! Closes questions that nobody waits for any more, and says why.

use protocol_spec::endpoint::Places;
use protocol_spec::id::AgentId;
use protocol_spec::outcome::Origin;

use super::agent;
use crate::client;
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

/// Closes what an agent left behind; a question that somebody still waits for stays, unless a hook asked it.
///
/// The agent hears that its own questions were closed when it is next spoken to.
pub(super) fn left_behind(places: &Places, agent: &AgentId, reason: &str) -> Result<(), CliError> {
    for cue in agent::questions(places, agent)? {
        if !cue.outcome.is_answerable() {
            continue;
        }
        if cue.origin == Origin::Hook {
            client::withdraw(places, cue.cue_id, reason)?;
        } else if cue.waiting == 0 {
            client::close(places, cue.cue_id, reason)?;
        }
    }
    Ok(())
}
