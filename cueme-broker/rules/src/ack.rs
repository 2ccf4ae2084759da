//! A client printed an outcome and says so.

use protocol_spec::id::CueId;
use protocol_spec::message::{Acked, ErrorCode, EventKind, Failure, Reply};

use super::ask::refuse;
use super::attach::unknown_cue;
use super::effect::{Change, Effect};
use super::input::{Now, Ticket};
use super::state::{Machine, State};

impl Machine {
    /// Settles each question: the first acknowledgement counts, later ones change nothing.
    pub(super) fn ack(
        &mut self,
        now: Now,
        ticket: Ticket,
        cues: &[CueId],
        nonce: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(failure) = cues.iter().find_map(|id| self.cannot_ack(*id)) {
            return effects.push(refuse(ticket, failure));
        }
        let first = cues
            .iter()
            .copied()
            .filter(|id| self.settle(now, *id, nonce, effects))
            .collect();
        let reply = Reply::Acked(Acked { cue_ids: first });
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(reply),
        });
    }

    fn cannot_ack(&self, id: CueId) -> Option<Failure> {
        match self.cues.get(&id).map(|cue| &cue.state) {
            None => Some(unknown_cue(id)),
            Some(State::Open | State::Superseded | State::Held { .. }) => Some(Failure::new(
                ErrorCode::BadRequest,
                format!("question {id} has no outcome that could have been printed"),
            )),
            Some(State::Decided { .. } | State::Settled { .. }) => None,
        }
    }

    /// Settles a decided question; returns whether it was not settled before.
    fn settle(&mut self, now: Now, id: CueId, nonce: Option<&str>, effects: &mut Vec<Effect>) -> bool {
        let Some(cue) = self.cues.get_mut(&id) else {
            return false;
        };
        self.visitors.push(id);
        let State::Decided { decision, handed_at } = &cue.state else {
            // Several may wait for one outcome, each in a turn of its own; each of them was told.
            if let Some(nonce) = nonce {
                effects.push(Effect::Store(Change::AddReceipt {
                    cue: id,
                    nonce: nonce.to_owned(),
                }));
            }
            return false;
        };
        let erase = decision.has_secrets();
        cue.state = State::Settled {
            decision: decision.without_secrets(),
            handed_at: handed_at.unwrap_or(now.wall),
        };
        if let Some(agent) = self.agents.get_mut(&cue.agent) {
            agent.cues.retain(|known| *known != id);
        }
        effects.push(Effect::Store(Change::Acknowledge {
            cue: id,
            nonce: nonce.map(str::to_owned),
            erase,
        }));
        effects.push(Effect::Log {
            what: EventKind::Delivered,
            agent: cue.agent.clone(),
            cue: Some(id),
        });
        true
    }
}
