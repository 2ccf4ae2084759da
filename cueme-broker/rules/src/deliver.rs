//! Delivers outcomes to the clients that wait for them. The decision is a separate step, which another broker may have
//! made.

use protocol_spec::id::CueId;
use protocol_spec::message::{ACKS_MAX, CONTENT_BYTES_MAX, DeliveredOutcome};
use protocol_spec::time::Timestamp;

use super::agent::Agent;
use super::cue::State;
use super::effect::Change;
use super::machine::Present;
use super::outbox::Outbox;

impl Agent {
    /// Marks an outcome as delivered and returns it, or nothing while there is no outcome that the agent may have.
    pub(super) fn deliver(&mut self, now: Present, id: CueId, out: &mut Outbox) -> Option<DeliveredOutcome> {
        let cue = self.cue_mut(id)?;
        let handed_before: Option<Timestamp> = match &mut cue.state {
            State::Open | State::Superseded | State::Held { .. } => return None,
            State::Decided {
                handed_at: Some(at), ..
            }
            | State::Settled { handed_at: at, .. } => Some(*at),
            State::Decided { handed_at: never, .. } => {
                *never = Some(now.wall);
                out.store(Change::Hand { cue: id });
                None
            }
        };
        let decision = cue.state.decision()?;
        Some(cue.told(id, decision, handed_before))
    }

    /// Delivers outcomes in the order given, as many as fit into one line; the others have to wait.
    pub(super) fn deliver_what_fits(
        &mut self,
        now: Present,
        cues: &[CueId],
        out: &mut Outbox,
    ) -> Vec<DeliveredOutcome> {
        let mut room = CONTENT_BYTES_MAX;
        let mut handed = Vec::new();
        for id in cues.iter().take(ACKS_MAX) {
            let Some(bytes) = self.outcome_bytes(now, *id) else {
                continue;
            };
            if bytes > room {
                break;
            }
            room -= bytes;
            handed.extend(self.deliver(now, *id, out));
        }
        handed
    }

    /// Returns how many bytes of a line an outcome takes at most.
    fn outcome_bytes(&self, now: Present, id: CueId) -> Option<usize> {
        let cue = self.cue(id)?;
        let decision = cue.state.decision()?;
        Some(cue.told(id, decision, Some(now.wall)).line_bytes())
    }
}
