//! No file descriptor is left open after any scenario.
//!
//! A test binary of its own with one test, because descriptors are counted for the whole process.

mod adapter_support;

use adapter_support::Fake;

const SCENARIOS: [&str; 12] = [
    "simple",
    "tools",
    "exit1_silent",
    "invalid_json",
    "huge_line_over",
    "stderr_flood",
    "hang_after_result",
    "grandchild_holds_stdout",
    "grandchild_setsid",
    "hang_mid",
    "ignore_sigterm",
    "partial_line_hang",
];

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn no_pipe_stays_open_after_any_scenario() {
    Fake::new("simple").play().await;
    let before = descriptors();
    for scenario in SCENARIOS {
        Fake::new(scenario).deadline(600).play().await;
        // Aborted tasks drop their pipes when the runtime next polls.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert_eq!(descriptors(), before, "after {scenario}");
    }
}
