//! The rule for a wait that ended because the agent's runtime allows no more. The connection of the waiting caller ends
//! the wait itself, with `Gone`.

use protocol_spec::id::CueId;
use protocol_spec::message::{Reply, Rested};

use super::AWAY_AFTER_MS;
use super::agent::Agent;
use super::cue::Rounds;
use super::input::Ticket;
use super::machine::Present;
use super::outbox::Outbox;

impl Agent {
    /// Counts the waits that ended without any sign of a human, and says whether the human is away.
    ///
    /// A human who was seen within the hour is expected back: the agent asks again. The number of waits in an hour
    /// depends on the runtime.
    pub(super) fn rest(&mut self, now: Present, ticket: Ticket, id: CueId, out: &mut Outbox) {
        let Some(cue) = self.cue_mut(id) else { return };
        if cue.rounds.signs != now.human_signs {
            cue.rounds = Rounds {
                signs: now.human_signs,
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
        out.reply(ticket, Reply::Rested(rested));
    }
}
