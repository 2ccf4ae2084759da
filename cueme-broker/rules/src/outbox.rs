//! The effects of a rule, on their way to the machine.

use protocol_spec::id::{AgentId, CueId};
use protocol_spec::message::{EventKind, Failure, Reply};

use super::effect::{Change, Effect};
use super::input::Ticket;

/// Collects the effects of a rule.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The effects, in order.
    pub(super) effects: Vec<Effect>,
    /// Questions that are new.
    pub(super) opened: Vec<CueId>,
    /// Callers that wait for a question from now on.
    pub(super) attached: Vec<(Ticket, CueId)>,
    /// Questions with an outcome to deliver. The machine delivers it to the waiting callers in a step of its own.
    pub(super) released: Vec<CueId>,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self {
            effects: Vec::with_capacity(6),
            opened: Vec::new(),
            attached: Vec::new(),
            released: Vec::new(),
        }
    }

    pub(super) fn store(&mut self, change: Change) {
        self.effects.push(Effect::Store(change));
    }

    pub(super) fn log(&mut self, what: EventKind, agent: &AgentId, cue: Option<CueId>) {
        self.effects.push(Effect::Log {
            what,
            agent: agent.clone(),
            cue,
        });
    }

    pub(super) fn presence(&mut self, agent: &AgentId, cue: CueId, waiting: u32) {
        self.effects.push(Effect::Presence {
            agent: agent.clone(),
            cue,
            waiting,
        });
    }

    pub(super) fn reply(&mut self, to: Ticket, reply: Reply) {
        self.effects.push(Effect::Reply {
            to,
            reply: Box::new(reply),
        });
    }

    pub(super) fn refuse(&mut self, to: Ticket, failure: Failure) {
        self.reply(to, Reply::Error(failure));
    }
}
