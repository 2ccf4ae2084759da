//! A wait ended because the agent's runtime allows no more. Whose wait that was, its connection says: `Gone`.

use protocol_spec::id::CueId;
use protocol_spec::message::{Reply, Rested};

use super::ROUNDS_MAX;
use super::ask::refuse;
use super::attach::unknown_cue;
use super::effect::Effect;
use super::input::Ticket;
use super::state::Machine;

impl Machine {
    /// Counts the rounds an agent has waited without any sign of a human, and says when it should give up.
    pub(super) fn rest(&mut self, ticket: Ticket, id: CueId, effects: &mut Vec<Effect>) {
        let signs = self.human_signs;
        let Some(cue) = self.cues.get_mut(&id) else {
            return effects.push(refuse(ticket, unknown_cue(id)));
        };
        if cue.rounds.1 != signs {
            cue.rounds = (0, signs);
        }
        cue.rounds.0 += 1;
        let rounds = cue.rounds.0;
        let rested = Rested {
            cue_id: id,
            rounds,
            give_up: rounds >= ROUNDS_MAX,
        };
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Rested(rested)),
        });
    }
}
