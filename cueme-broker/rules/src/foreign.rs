//! Other brokers changed agents: their state is replaced, and whoever waits here for what was decided there is told.

use std::collections::{HashMap, HashSet};

use protocol_spec::id::{AgentId, CueId};

use super::effect::Effect;
use super::input::Now;
use super::state::{Cue, Machine, State};

impl Machine {
    /// Returns the questions of some agents that somebody waits for here.
    pub fn waited_for(&self, agents: &[AgentId]) -> Vec<CueId> {
        let agents: HashSet<&AgentId> = agents.iter().collect();
        let is_waited_for = |cue: &Cue| !cue.waiters.is_empty() && agents.contains(&cue.agent);
        let cues = self.cues.iter().filter(|(_, cue)| is_waited_for(cue));
        cues.map(|(id, _)| *id).collect()
    }

    /// Replaces some agents by what was loaded of them; one that was not loaded is gone.
    ///
    /// Who waits here goes on waiting, and is handed what was decided meanwhile.
    pub fn replace(&mut self, now: Now, agents: &[AgentId], loaded: Self) -> Vec<Effect> {
        let agents: HashSet<&AgentId> = agents.iter().collect();
        self.agents.retain(|id, _| !agents.contains(id));
        let fresh = loaded.agents.into_iter();
        self.agents.extend(fresh.filter(|(id, _)| agents.contains(id)));
        self.visitors.extend(loaded.visitors);

        let mut old: HashMap<CueId, Cue> = self
            .cues
            .extract_if(|_, cue| agents.contains(&cue.agent))
            .collect();
        let fresh = loaded.cues.into_iter();
        let mut fresh: Vec<(CueId, Cue)> = fresh.filter(|(_, cue)| agents.contains(&cue.agent)).collect();
        // The same changes always have the same effects.
        fresh.sort_unstable_by_key(|(_, cue)| cue.ordinal);
        let mut effects = Vec::new();
        for (id, cue) in fresh {
            self.take_in(now, id, cue, old.remove(&id), &mut effects);
        }
        for ticket in old.values().flat_map(|cue| &cue.waiters) {
            self.waiters.remove(ticket);
        }
        self.forget_settled();
        effects
    }

    /// Hands what was decided to everybody who waits for it, also to those who have it already.
    pub fn hand_to_all(&mut self, now: Now) -> Vec<Effect> {
        let mut decided: Vec<CueId> = self.waiters.values().copied().collect();
        decided.sort_unstable();
        decided.dedup();
        let mut effects = Vec::new();
        for id in decided {
            self.hand_to_waiters(now, id, &mut effects);
        }
        effects
    }

    fn take_in(&mut self, now: Now, id: CueId, mut cue: Cue, old: Option<Cue>, effects: &mut Vec<Effect>) {
        let waited = old.as_ref().map_or(0, Cue::waiting);
        let was_decided = old.as_ref().is_some_and(|old| is_released(&old.state));
        if let Some(old) = old {
            cue.waiters = old.waiters;
            cue.rounds = old.rounds;
        }
        if cue.waiting() > 0 {
            cue.detached = None;
        }
        let is_decided = is_released(&cue.state);
        if waited != cue.waiting() {
            effects.push(Effect::Presence {
                agent: cue.agent.clone(),
                cue: id,
                waiting: cue.waiting(),
            });
        }
        self.cues.insert(id, cue);
        self.watch_over(now, id);
        if is_decided && !was_decided {
            self.human_signs += 1;
            self.hand_to_waiters(now, id, effects);
        }
    }
}

/// Says whether there is an outcome that an agent may have.
fn is_released(state: &State) -> bool {
    matches!(state, State::Decided { .. } | State::Settled { .. })
}
