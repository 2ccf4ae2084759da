//! Waiting for something to become true.

use std::io::Write;
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

/// Says that a test could not be run here and why.
///
/// Written past the test runner, which keeps what a passing test prints to itself.
pub fn not_run(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "not run: {test}: {why}");
}

/// Says that a tool is missing; where everything must run, that is a failure.
///
/// # Panics
///
/// Panics when `CUEME_TESTS` is `all`, as `tests/run` sets it after installing the tools.
#[track_caller]
pub fn not_run_without(tool: &str) {
    let why = format!("{tool} is not installed");
    assert!(
        std::env::var("CUEME_TESTS").as_deref() != Ok("all"),
        "{why}, and all tests must run"
    );
    not_run(&why);
}
