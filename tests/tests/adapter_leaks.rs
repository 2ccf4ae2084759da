//! Nothing is left behind after any scenario: no process, no zombie, no open pipe.
//!
//! A test binary of its own with one test, because descriptors are counted for the whole process.

#[path = "adapter/fake.rs"]
mod fake;

use std::time::Duration;

use cueme_tests::{SCENARIOS, eventually_async};
use fake::Fake;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns the children of this process that nobody has waited for.
fn zombies() -> Vec<String> {
    let own = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let mut fields = after_name.split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(own.as_str())
        })
        .collect()
}

#[tokio::test]
async fn no_process_no_zombie_and_no_pipe_is_left_after_any_scenario() {
    Fake::new("simple").play().await;
    // Descriptors that the first turn still closes must not hide those that a later turn leaks.
    let mut before = descriptors();
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        before = before.min(descriptors());
    }
    for scenario in SCENARIOS {
        let mut fake = Fake::new(scenario).deadline(1_000);
        if scenario.starts_with("custom") {
            fake.spec.prompt_as_arg = false;
            fake.spec.args.clear();
        }
        // Playing checks that the process group is gone.
        fake.play().await;
        // Aborted tasks drop their pipes when the runtime next polls.
        let what = format!("no more than {before} descriptors and no zombie after {scenario}");
        let is_clean = || (descriptors() <= before && zombies().is_empty()).then_some(());
        eventually_async(&what, is_clean).await;
    }
}
