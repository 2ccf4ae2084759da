//! Counts what is allocated and not yet freed: by everybody, and at most by one thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

static LIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What this thread allocated and freed: below zero where it frees what others allocated.
    static OWN: Cell<Own> = const { Cell::new(Own { live: 0, peak: 0 }) };
}

#[derive(Debug, Clone, Copy)]
struct Own {
    live: isize,
    peak: isize,
}

/// The system's allocator, counted.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Returns how many bytes are in use.
pub(crate) fn live_bytes() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Runs something on this thread, and returns the most that the thread had allocated at once beyond what it had before.
pub(crate) fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = OWN.get().live;
    OWN.set(Own {
        live: before,
        peak: before,
    });
    let done = run();
    (done, OWN.get().peak.saturating_sub(before).unsigned_abs())
}

fn grow(bytes: usize) {
    LIVE.fetch_add(bytes, Ordering::Relaxed);
    let Own { live, peak } = OWN.get();
    let live = live.saturating_add_unsigned(bytes);
    OWN.set(Own {
        live,
        peak: peak.max(live),
    });
}

fn shrink(bytes: usize) {
    LIVE.fetch_sub(bytes, Ordering::Relaxed);
    let Own { live, peak } = OWN.get();
    OWN.set(Own {
        live: live.saturating_sub_unsigned(bytes),
        peak,
    });
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
    use super::*;

    #[test]
    fn the_peak_is_that_of_the_thread_whatever_others_do_meanwhile() {
        let ((), peak) = peak_of(|| {
            drop(std::hint::black_box(vec![1u8; 1 << 20]));
            std::thread::scope(|scope| {
                scope.spawn(|| drop(std::hint::black_box(vec![1u8; 8 << 20])));
            });
        });
        assert!((1 << 20..4 << 20).contains(&peak), "{peak}");
    }
}
