//! R19, its other half: `cargo mutants`, where it is installed, makes small changes to the rules and the store, of which
//! tests must notice nine in ten.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::guided::last_lines;
use crate::r19_teeth::Copy;
use crate::trial::{NotRun, Trial};

/// The files that are mutated.
const FILES: [&str; 2] = ["cueme-broker/rules/src/**", "cueme-broker/store-sqlite/src/**"];
/// The percentage of mutants that the tests must catch.
const CAUGHT_PERCENT_MIN: usize = 90;
/// The timeout of the tests for one mutant, in seconds; a mutant that makes them hang counts as caught.
const PATIENCE_SEC: &str = "300";

/// Tries one change in so many, and counts what was noticed.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    if !trial.is_thorough() {
        return Err(NotRun("each change takes a build; see nightly".into()));
    }
    if !is_installed() {
        return Err(NotRun("it takes `cargo install cargo-mutants`".into()));
    }
    let copy = Copy::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    try_some(trial, &copy.directory);
    Ok(())
}

fn try_some(trial: &mut Trial, sources: &Path) {
    let shards = trial.size(1, 32, 1);
    let shard = trial.random.below(shards);
    let mut command = Command::new("cargo");
    command
        .args([
            "mutants",
            "--no-times",
            "--colors=never",
            // The sources are a copy, and built already.
            "--in-place",
            "--package=cueme-rules",
            "--package=cueme-store-sqlite",
            "--test-package=cueme-broker,cueme-rules,cueme-store-sqlite",
        ])
        .args(FILES.map(|files| format!("--file={files}")))
        .arg(format!("--shard={shard}/{shards}"))
        .arg("--sharding=round-robin")
        .args(["--timeout", PATIENCE_SEC])
        // Tests that start the program would have to build it for each mutant.
        .args([
            "--",
            "--lib",
            "--test=storage",
            "--test=web_api",
            "--test=simulation",
        ])
        // Skips tests that take long and concern the network only.
        .args(["--", "--skip=slow::", "--skip=whoever_does_not_read"])
        .env_remove("CUEME_BIN")
        .env("CUEME_SIM_STEPS", "5000")
        .current_dir(sources)
        .stdin(Stdio::null());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return trial.violation(format!("cargo mutants cannot be run: {error}")),
    };
    let counted = |name: &str| {
        let list = std::fs::read_to_string(sources.join("mutants.out").join(name));
        list.map(|list| list.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    // Two and three are its ways to say that something was missed, or hung; four, that the tests fail without a change.
    let (Ok(caught), Ok(missed), Ok(hung), true) = (
        counted("caught.txt"),
        counted("missed.txt"),
        counted("timeout.txt"),
        matches!(output.status.code(), Some(0 | 2 | 3)),
    ) else {
        let said = String::from_utf8_lossy(&output.stdout);
        return trial.violation(format!(
            "cargo mutants failed, {}: {}",
            output.status,
            last_lines(&said)
        ));
    };
    let noticed = caught.len() + hung.len();
    let total = noticed + missed.len();
    trial.check(total > 0, || "not one change was tried".into());
    trial.check(noticed * 100 >= total * CAUGHT_PERCENT_MIN, || {
        format!("{} of {total} changes were not noticed: {missed:?}", missed.len())
    });
    trial.figure(
        "mutants noticed",
        format!("{noticed} of {total}, one in {shards} of all"),
    );
    for missed in missed {
        eprintln!("r19: not noticed: {missed}");
    }
}

fn is_installed() -> bool {
    let asked = Command::new("cargo").args(["mutants", "--version"]).output();
    asked.is_ok_and(|output| output.status.success())
}
