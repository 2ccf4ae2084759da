//! Replaces an agent that another broker changed by its loaded state.

use super::agent::Agent;
use super::outbox::Outbox;

impl Agent {
    /// Keeps the facts that only this broker knows of the questions: its waiting clients, and the waits that ended.
    pub(super) fn take_over(&mut self, old: Option<&Self>, out: &mut Outbox) {
        let id = &self.id;
        for (cue_id, cue) in &mut self.cues {
            let old = old.and_then(|old| old.cue(*cue_id));
            if let Some(old) = old {
                cue.here = old.here;
                cue.rounds = old.rounds;
            }
            if cue.waiting() > 0 {
                cue.detached = None;
            }
            if cue.waiting() != old.map_or(0, |old| old.waiting()) {
                out.presence(id, *cue_id, cue.waiting());
            }
            if cue.state.is_released() && !old.is_some_and(|old| old.state.is_released()) {
                out.released.push(*cue_id);
            }
        }
    }
}
