//! A caller waits for a question, or leaves it.

use protocol_spec::id::CueId;
use protocol_spec::message::{Asked, ErrorCode, EventKind, Failure, Reply};
use protocol_spec::outcome::Outcome;

use super::agent::Agent;
use super::cue::State;
use super::effect::Change;
use super::input::Ticket;
use super::machine::Present;
use super::outbox::Outbox;

/// Whether the question existed before the call that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    No,
}

impl Agent {
    /// Waits for a question: delivers its outcome if there is one; the caller's ticket is kept either way.
    pub(super) fn attach(&mut self, now: Present, ticket: Ticket, id: CueId, again: Again, out: &mut Outbox) {
        let asked = Asked {
            cue_id: id,
            agent_runtime: self.runtime.clone(),
            again: again == Again::Yes,
        };
        let Some(cue) = self.cue_mut(id) else { return };
        out.reply(ticket, Reply::Asked(asked));
        let is_first = cue.here == 0;
        cue.here += 1;
        cue.detached = None;
        let waiting = cue.waiting();
        let was_left_behind = matches!(cue.state, State::Superseded);
        if was_left_behind {
            cue.state = State::Open;
        }
        out.attached.push((ticket, id));
        if is_first && again == Again::Yes {
            out.store(Change::SetDetached { cue: id, at: None });
        }
        if was_left_behind {
            out.store(Change::Reopen {
                cue: id,
                outcome: Outcome::Open,
                erase: false,
            });
            out.log(EventKind::Reopened, &self.id, Some(id));
        }
        out.presence(&self.id, id, waiting);
        if let Some(told) = self.deliver(now, id, out) {
            out.reply(ticket, Reply::Outcome(told));
        }
    }

    /// One client less waits for a question. The question stays.
    pub(super) fn leave(&mut self, now: Present, id: CueId, out: &mut Outbox) {
        let Some(cue) = self.cue_mut(id) else { return };
        cue.here = cue.here.saturating_sub(1);
        if cue.state.is_settled() {
            return;
        }
        let waiting = cue.waiting();
        if cue.here == 0 {
            cue.detached = (cue.elsewhere == 0).then_some((now.steady, now.wall));
            out.store(Change::SetDetached {
                cue: id,
                at: Some(now.wall),
            });
        }
        out.presence(&self.id, id, waiting);
    }
}

pub fn unknown_cue(id: CueId) -> Failure {
    Failure::new(ErrorCode::UnknownCue, format!("there is no question {id}"))
        .with_hint("`cueme inbox` lists the open questions, `cueme history` the others")
}
