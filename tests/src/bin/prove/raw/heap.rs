//! Counts what a thread has allocated and not yet freed.
//!
//! Each thread counts for itself: a measurement does everything on one thread, and threads that count together would
//! wait for one another at every allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static OWN: Cell<Own> = const { Cell::new(Own { live: 0, peak: 0 }) };
}

/// The bytes that a thread counted; below zero if it freed memory of other threads.
#[derive(Debug, Clone, Copy)]
struct Own {
    live: isize,
    peak: isize,
}

/// The system's allocator, counted.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Returns how many bytes this thread has in use: fewer than none where it freed what other threads allocated, so only
/// the difference of two readings says something.
pub(crate) fn live_bytes() -> isize {
    OWN.get().live
}

/// Runs something, and returns the most that this thread had in use meanwhile beyond what it had before.
pub(crate) fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let Own { live: before, .. } = OWN.get();
    OWN.set(Own {
        live: before,
        peak: before,
    });
    let done = run();
    (done, OWN.get().peak.saturating_sub(before).unsigned_abs())
}

fn grow(bytes: usize) {
    let Own { live, peak } = OWN.get();
    let live = live.saturating_add_unsigned(bytes);
    let peak = peak.max(live);
    OWN.set(Own { live, peak });
}

fn shrink(bytes: usize) {
    let Own { live, peak } = OWN.get();
    let live = live.saturating_sub_unsigned(bytes);
    OWN.set(Own { live, peak });
}

// SAFETY: every call is passed to the system's allocator as it came; counting touches no memory of the caller, and
// allocates none: what a thread counts with is there from its beginning and is never dropped.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System`.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            grow(layout.size());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        if !moved.is_null() {
            grow(size);
            shrink(layout.size());
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn a_thread_counts_what_it_allocates_itself_and_no_more() {
        let before = live_bytes();
        let (kept, peak) = peak_of(|| {
            drop(black_box(vec![1u8; 3 << 20]));
            std::thread::scope(|scope| {
                scope.spawn(|| drop(black_box(vec![1u8; 32 << 20])));
            });
            black_box(vec![1u8; 1 << 20])
        });
        assert!((3 << 20..4 << 20).contains(&peak), "{peak}");
        assert!((1 << 20..2 << 20).contains(&(live_bytes() - before)));
        drop(kept);
    }
}
