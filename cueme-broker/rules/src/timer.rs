//! What happens because time passed: held answers are released, questions left behind are superseded.

use protocol_spec::id::CueId;
use protocol_spec::message::EventKind;
use protocol_spec::outcome::Outcome;

use super::SUPERSEDED_AFTER_MS;
use super::effect::{Change, Effect};
use super::input::Now;
use super::state::{Machine, State};

impl Machine {
    /// Returns when [`Input::Tick`](super::Input::Tick) is due next, by the steady clock.
    pub fn next_due(&self) -> Option<u64> {
        self.timers.first().map(|(due, _)| *due)
    }

    pub(super) fn tick(&mut self, now: Now, effects: &mut Vec<Effect>) {
        while let Some(&(due, id)) = self.timers.first() {
            if due > now.steady {
                break;
            }
            self.timers.remove(&(due, id));
            self.look_at(now, id, effects);
        }
    }

    /// Notes when a question has to be looked at again, if time can change it.
    ///
    /// A timer is only a reminder to look; whether anything is due is decided then, so an outdated one does no harm.
    pub(super) fn watch_over(&mut self, now: Now, id: CueId) {
        let Some(cue) = self.cues.get(&id) else { return };
        let due = match &cue.state {
            State::Held { until, .. } => Some(*until),
            State::Open if self.is_left_behind(id) => cue
                .detached
                .map(|(since, _)| since.saturating_add(SUPERSEDED_AFTER_MS)),
            State::Open | State::Superseded | State::Decided { .. } | State::Settled { .. } => None,
        };
        if let Some(due) = due {
            self.timers.insert((due.max(now.steady), id));
        }
    }

    fn look_at(&mut self, now: Now, id: CueId, effects: &mut Vec<Effect>) {
        let is_left_behind = self.is_left_behind(id);
        let Some(cue) = self.cues.get_mut(&id) else { return };
        match &cue.state {
            State::Held { until, decision, .. } if *until <= now.steady => {
                cue.state = State::Decided {
                    decision: decision.clone(),
                    handed_at: None,
                };
                effects.push(Effect::Store(Change::Release { cue: id }));
                effects.push(Effect::Log {
                    what: EventKind::Released,
                    agent: cue.agent.clone(),
                    cue: Some(id),
                });
                self.hand_to_waiters(now, id, effects);
            }
            State::Open if is_left_behind => match cue.detached {
                Some((since, _)) if since.saturating_add(SUPERSEDED_AFTER_MS) <= now.steady => {
                    cue.state = State::Superseded;
                    effects.push(Effect::Store(Change::Reopen {
                        cue: id,
                        outcome: Outcome::Superseded,
                        erase: false,
                    }));
                    effects.push(Effect::Log {
                        what: EventKind::Superseded,
                        agent: cue.agent.clone(),
                        cue: Some(id),
                    });
                }
                Some(_) => self.watch_over(now, id),
                None => {}
            },
            State::Held { .. } => self.watch_over(now, id),
            State::Open | State::Superseded | State::Decided { .. } | State::Settled { .. } => {}
        }
    }

    /// Says whether the agent has asked something else since.
    fn is_left_behind(&self, id: CueId) -> bool {
        let Some(cue) = self.cues.get(&id) else {
            return false;
        };
        let newest = self.agents.get(&cue.agent).map_or(0, |agent| agent.newest);
        newest > cue.ordinal
    }
}
