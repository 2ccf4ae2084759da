//! Outcomes reach the clients that wait for them. Deciding is another step, which may have taken place on another broker.

use protocol_spec::id::CueId;
use protocol_spec::message::{ACKS_MAX, CONTENT_BYTES_MAX, Told};
use protocol_spec::time::Timestamp;

use super::agent::Agent;
use super::cue::State;
use super::effect::Change;
use super::machine::Present;
use super::outbox::Outbox;

impl Agent {
    /// Marks an outcome as handed over and returns what to say, or nothing while there is none that the agent may have.
    pub(super) fn deliver(&mut self, now: Present, id: CueId, out: &mut Outbox) -> Option<Told> {
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
    pub(super) fn deliver_what_fits(&mut self, now: Present, cues: &[CueId], out: &mut Outbox) -> Vec<Told> {
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
