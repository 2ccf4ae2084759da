//! A wait ended because the agent's runtime allows no more. Whose wait that was, its connection says: `Gone`.

use protocol_spec::id::CueId;
use protocol_spec::message::{Reply, Rested};

use super::AWAY_AFTER_MS;
use super::ask::refuse;
use super::attach::unknown_cue;
use super::effect::Effect;
use super::input::{Now, Ticket};
use super::state::{Machine, Rounds};

impl Machine {
    /// Counts the waits that ended without any sign of a human, and says whether the human is away.
    ///
    /// A human who was seen within the hour is expected back: the agent asks again. How many waits fit into an hour is
    /// the runtime's affair.
    pub(super) fn rest(&mut self, now: Now, ticket: Ticket, id: CueId, effects: &mut Vec<Effect>) {
        let signs = self.human_signs;
        let Some(cue) = self.cues.get_mut(&id) else {
            return effects.push(refuse(ticket, unknown_cue(id)));
        };
        if cue.rounds.signs != signs {
            cue.rounds = Rounds {
                signs,
                ..Rounds::default()
            };
        }
        cue.rounds.ended += 1;
        let since = *cue.rounds.since.get_or_insert(now.steady);
        let rested = Rested {
            cue_id: id,
            rounds: cue.rounds.ended,
            give_up: now.steady.saturating_sub(since) >= AWAY_AFTER_MS,
        };
        effects.push(Effect::Reply {
            to: ticket,
            reply: Box::new(Reply::Rested(rested)),
        });
    }
}
