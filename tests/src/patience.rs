//! Waiting for something to become true.

use std::time::{Duration, Instant};

/// How long anything may take before a test gives up. Generous, because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(4);

/// Looks until there is something to see, and returns it.
///
/// # Panics
///
/// Panics with `what` when it never comes.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "it never came: {what}");
        std::thread::sleep(LOOK);
    }
}

/// Says that a test could not be run here and why, in a form that `tests/run` counts.
pub fn not_run(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("not run: {test}: {why}");
}
