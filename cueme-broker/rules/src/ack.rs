//! The rule for a client that printed an outcome and acknowledges it.

use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, EventKind, Failure};

use super::agent::Agent;
use super::cue::{Cue, State};
use super::effect::Change;
use super::machine::Present;
use super::outbox::Outbox;

impl Cue {
    /// Returns why an outcome cannot have been printed, if it cannot.
    pub(super) fn cannot_ack(&self, id: CueId) -> Option<Failure> {
        match self.state {
            State::Open | State::Superseded | State::Held { .. } => Some(Failure::new(
                ErrorCode::BadRequest,
                format!("question {id} has no outcome that could have been printed"),
            )),
            State::Decided { .. } | State::Settled { .. } => None,
        }
    }
}

impl Agent {
    /// Settles a decided question; returns whether it was not settled before.
    pub(super) fn settle(&mut self, now: Present, id: CueId, nonce: Option<&str>, out: &mut Outbox) -> bool {
        let Some(cue) = self.cue_mut(id) else { return false };
        let State::Decided { decision, handed_at } = &cue.state else {
            // Several clients may wait for one outcome, each in a turn of its own; each of them got it.
            if let Some(nonce) = nonce {
                out.store(Change::AddReceipt {
                    cue: id,
                    nonce: nonce.to_owned(),
                });
            }
            return false;
        };
        let erase = decision.has_secrets();
        cue.state = State::Settled {
            decision: decision.without_secrets(),
            handed_at: handed_at.unwrap_or(now.wall),
        };
        out.store(Change::Acknowledge {
            cue: id,
            nonce: nonce.map(str::to_owned),
            erase,
        });
        out.log(EventKind::Delivered, &self.id, Some(id));
        true
    }
}
