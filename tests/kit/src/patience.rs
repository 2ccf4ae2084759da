//! Waiting for something to become true.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The timeout of every wait in a test. Generous, because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// The polling interval.
const LOOK: Duration = Duration::from_millis(4);

/// Looks until there is something to see, and returns it.
///
/// # Panics
///
/// Panics with `what` when it never comes.
#[track_caller]
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, look).unwrap_or_else(|| panic!("it never came: {what}"))
}

/// Looks until there is something to see or so much time has passed.
pub fn within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        let is_late = Instant::now() >= deadline;
        let seen = look();
        if seen.is_some() || is_late {
            return seen;
        }
        std::thread::sleep(LOOK);
    }
}

/// As [`eventually`], for tests whose other tasks go on meanwhile.
///
/// # Panics
///
/// Panics with `what` when it never comes.
pub async fn eventually_async<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "it never came: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Looks for as long as `lasts` says, and makes sure that it is so each time.
///
/// # Panics
///
/// Panics with `what` when it once is not so.
#[track_caller]
pub fn remains(what: &str, lasts: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + lasts;
    loop {
        // The last look is after the end: what came in between is seen.
        let is_over = Instant::now() >= deadline;
        assert!(holds(), "it was no longer so: {what}");
        if is_over {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits until the clock shows another millisecond: what comes before and after has different times.
pub fn next_millisecond() {
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_millis())
    };
    let before = now();
    eventually("another millisecond", || (now() > before).then_some(()));
}

/// Waits until a file that is written now is newer than one that was written before; file systems count coarsely.
pub fn next_file_time() {
    let written =
        || tempfile::tempfile().and_then(|mut file| file.write_all(b"x").and(file.metadata()?.modified()));
    let before = written().unwrap_or_else(|error| panic!("no temporary file: {error}"));
    eventually("a later time of files", || {
        written().ok().filter(|now| *now > before)
    });
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
