//! A caller waits for a question, or leaves it.

use protocol_spec::id::CueId;
use protocol_spec::message::{
    ACKS_MAX, Asked, CONTENT_BYTES_MAX, ErrorCode, EventKind, Failure, Reply, Told,
};
use protocol_spec::outcome::Outcome;
use protocol_spec::time::Timestamp;

use super::ask::refuse;
use super::effect::{Change, Effect};
use super::input::{Now, Ticket};
use super::state::{Machine, State};

/// Whether the question existed before the call that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    No,
}

impl Machine {
    /// Waits for a question that the caller knows by its id.
    pub(super) fn attach_by_id(&mut self, now: Now, ticket: Ticket, id: CueId, effects: &mut Vec<Effect>) {
        if self.cues.contains_key(&id) {
            self.attach(now, ticket, id, Again::Yes, effects);
        } else {
            effects.push(refuse(ticket, unknown_cue(id)));
        }
    }

    /// Waits for a question: hands over its outcome if there is one, else keeps the caller's ticket.
    pub(super) fn attach(
        &mut self,
        now: Now,
        ticket: Ticket,
        id: CueId,
        again: Again,
        effects: &mut Vec<Effect>,
    ) {
        let Some(cue) = self.cues.get_mut(&id) else { return };
        let Some(agent) = self.agents.get(&cue.agent) else {
            return;
        };
        let asked = Asked {
            cue_id: id,
            agent_runtime: agent.runtime.clone(),
            again: again == Again::Yes,
        };
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Asked(asked)),
        });
        let is_first = cue.waiters.is_empty();
        cue.waiters.push(ticket);
        cue.detached = None;
        if is_first && again == Again::Yes {
            effects.push(Effect::Store(Change::SetDetached { cue: id, at: None }));
        }
        self.waiters.insert(ticket, id);
        if matches!(cue.state, State::Superseded) {
            cue.state = State::Open;
            effects.push(Effect::Store(Change::Reopen {
                cue: id,
                outcome: Outcome::Open,
                erase: false,
            }));
            effects.push(Effect::Log {
                what: EventKind::Reopened,
                agent: cue.agent.clone(),
                cue: Some(id),
            });
        }
        effects.push(Effect::Presence {
            agent: cue.agent.clone(),
            cue: id,
            waiting: cue.waiting(),
        });
        if let Some(told) = self.hand_over(now, id, effects) {
            effects.push(Effect::Reply {
                to: ticket,
                reply: Box::new(Reply::Outcome(told)),
            });
        }
    }

    /// Marks an outcome as handed over and returns what to say, or nothing while there is none to hand over.
    pub(super) fn hand_over(&mut self, now: Now, id: CueId, effects: &mut Vec<Effect>) -> Option<Told> {
        let cue = self.cues.get_mut(&id)?;
        let handed_before: Option<Timestamp> = match &mut cue.state {
            State::Open | State::Superseded | State::Held { .. } => return None,
            State::Decided {
                handed_at: Some(at), ..
            }
            | State::Settled { handed_at: at, .. } => Some(*at),
            State::Decided { handed_at: never, .. } => {
                *never = Some(now.wall);
                effects.push(Effect::Store(Change::Hand { cue: id }));
                None
            }
        };
        let cue = self.cues.get(&id)?;
        cue.state
            .decision()
            .map(|decision| cue.told(id, decision, handed_before))
    }

    /// Hands over outcomes in the order given, as many as fit into one line; the others have to wait.
    pub(super) fn hand_over_what_fits(
        &mut self,
        now: Now,
        cues: &[CueId],
        effects: &mut Vec<Effect>,
    ) -> Vec<Told> {
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
            handed.extend(self.hand_over(now, *id, effects));
        }
        handed
    }

    /// Returns how many bytes of a line an outcome takes at most.
    fn outcome_bytes(&self, now: Now, id: CueId) -> Option<usize> {
        let cue = self.cues.get(&id)?;
        let decision = cue.state.decision()?;
        Some(cue.told(id, decision, Some(now.wall)).line_bytes())
    }

    /// Forgets a caller whose connection is gone. The question it waited for stays.
    pub(super) fn leave(&mut self, now: Now, ticket: Ticket, effects: &mut Vec<Effect>) {
        let Some(id) = self.waiters.remove(&ticket) else {
            return;
        };
        let Some(cue) = self.cues.get_mut(&id) else { return };
        cue.waiters.retain(|waiter| *waiter != ticket);
        match cue.state {
            State::Settled { .. } => self.visitors.push(id),
            State::Open | State::Superseded | State::Held { .. } | State::Decided { .. } => {
                if cue.waiters.is_empty() {
                    cue.detached = (cue.elsewhere == 0).then_some((now.steady, now.wall));
                    effects.push(Effect::Store(Change::SetDetached {
                        cue: id,
                        at: Some(now.wall),
                    }));
                }
                effects.push(Effect::Presence {
                    agent: cue.agent.clone(),
                    cue: id,
                    waiting: cue.waiting(),
                });
                self.watch_over(now, id);
            }
        }
    }
}

pub fn unknown_cue(id: CueId) -> Failure {
    Failure::new(ErrorCode::UnknownCue, format!("there is no question {id}"))
        .with_hint("`cueme inbox` lists the open questions, `cueme history` the others")
}
