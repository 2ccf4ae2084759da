//! Timers: held answers are released, and detached questions are superseded.

use protocol_spec::message::EventKind;
use protocol_spec::outcome::Outcome;

use super::agent::Agent;
use super::cue::State;
use super::effect::Change;
use super::machine::Present;
use super::outbox::Outbox;

impl Agent {
    /// Handles the timer that is due first, if there is one.
    pub(super) fn pass_time(&mut self, now: Present, out: &mut Outbox) {
        let due = self.next_due().filter(|(due, _)| *due <= now.steady);
        let Some((_, id)) = due else { return };
        let Some(cue) = self.cue_mut(id) else { return };
        match &cue.state {
            State::Held { decision, .. } => {
                cue.state = State::Decided {
                    decision: decision.clone(),
                    handed_at: None,
                };
                out.store(Change::Release { cue: id });
                out.log(EventKind::Released, &self.id, Some(id));
                out.released.push(id);
            }
            State::Open => {
                cue.state = State::Superseded;
                out.store(Change::Reopen {
                    cue: id,
                    outcome: Outcome::Superseded,
                    erase: false,
                });
                out.log(EventKind::Superseded, &self.id, Some(id));
            }
            State::Superseded | State::Decided { .. } | State::Settled { .. } => {}
        }
    }
}
