//! The memory for unfinished lines of all connections together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of each connection's lines that is not counted, in bytes.
const LINE_BYTES_FREE: usize = 64 * 1024;
/// The most memory of all connections together beyond that, in bytes: some lines of full length at once.
const LINES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The memory in use.
#[derive(Debug, Default)]
pub(super) struct Room {
    taken: AtomicUsize,
}

/// The memory of one connection; released when dropped.
#[derive(Debug)]
pub(super) struct Share {
    room: Arc<Room>,
    bytes: usize,
}

impl Share {
    /// Takes nothing yet.
    pub(super) fn of(room: Arc<Room>) -> Self {
        Self { room, bytes: 0 }
    }

    /// Reserves the memory for a buffer of `held` bytes, or releases the excess; says whether there was enough.
    pub(super) fn hold(&mut self, held: usize) -> bool {
        let wanted = held.saturating_sub(LINE_BYTES_FREE);
        if wanted > self.bytes {
            let more = wanted - self.bytes;
            let take = |taken: usize| (taken + more <= LINES_BYTES_MAX).then_some(taken + more);
            let taken = self
                .room
                .taken
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            if taken.is_err() {
                return false;
            }
        } else {
            self.room.taken.fetch_sub(self.bytes - wanted, Ordering::Relaxed);
        }
        self.bytes = wanted;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_share_what_there_is_and_give_it_back() {
        let room = Arc::<Room>::default();
        let share = || Share::of(Arc::clone(&room));
        let (mut one, mut other, mut short) = (share(), share(), share());
        assert!(one.hold(LINES_BYTES_MAX));
        assert!(short.hold(LINE_BYTES_FREE), "short lines are not counted");
        assert!(other.hold(2 * LINE_BYTES_FREE));
        assert!(!other.hold(2 * LINE_BYTES_FREE + 1), "there is no more");
        assert!(one.hold(0), "its line is complete");
        assert!(other.hold(LINES_BYTES_MAX));
        drop(other);
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }
}
