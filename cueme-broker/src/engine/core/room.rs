//! Space on the disk: some is kept for answers, and given up for them when there is no other; the log has some of its own.

use super::Core;
use crate::engine::order::{Order, Work};
use crate::store::StoreError;

impl Core {
    /// Gives up the ballast, if there is one.
    pub(super) fn make_room(&mut self) -> bool {
        self.is_full = self.ballast.fits();
        let has_made_room = self.ballast.give_up();
        if has_made_room {
            tracing::error!(
                "the disk is full; the space kept for answers is used, new questions are refused"
            );
        }
        has_made_room
    }

    /// Keeps space for answers again, once there is enough; returns whether there is.
    pub(super) fn regain_room(&mut self) -> bool {
        if !self.is_full || !self.ballast.lay() {
            return !self.is_full;
        }
        self.is_full = false;
        if let Some(Err(error)) = self.store.as_ref().map(|store| store.be_frugal(false)) {
            tracing::warn!(%error, "the log of the database stays small");
        }
        tracing::info!("there is space again");
        true
    }

    /// Makes some of the room that the store's log may need.
    pub fn make_log_room(&mut self) {
        if let Some(store) = self.store.as_ref().filter(|_| !self.is_full) {
            // Where it cannot be made, commits make their own, and say what is wrong.
            self.has_log_room = !store.make_log_room().unwrap_or(false);
        }
    }

    /// Says whether an order would take space that is kept for answers.
    pub(super) fn takes_space(&self, order: &Order) -> bool {
        match &order.work {
            Work::Join { .. }
            | Work::Bind { .. }
            | Work::Say { .. }
            | Work::EditQueue { .. }
            | Work::Amend { .. }
            | Work::Import { .. } => true,
            Work::Ask { agent, content, .. } => {
                !self.machine.knows_request(order.request) && !self.machine.has_live(agent, *content)
            }
            Work::Attach(_)
            | Work::Ack { .. }
            | Work::Rest(_)
            | Work::Answer { .. }
            | Work::Decline { .. }
            | Work::Cancel { .. }
            | Work::Close { .. }
            | Work::Undo(_)
            | Work::Collect { .. }
            | Work::Gone
            | Work::HumanSeen
            | Work::Tick => false,
        }
    }

    pub(super) fn no_space(&self) -> StoreError {
        StoreError::NoSpace {
            path: self.path.clone(),
        }
    }
}
