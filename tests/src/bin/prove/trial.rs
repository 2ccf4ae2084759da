//! One run of one test: its chance, what it measured, and what it found wrong.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use cueme_tests::Random;
use serde::{Deserialize, Serialize};

use crate::tier::Tier;

/// The most violations that are listed one by one.
const TOLD_MAX: usize = 20;
/// Delays below this say nothing about the program.
const NOISE: Duration = Duration::from_millis(25);
/// The limit of noise where the machine is shared with other work.
const NOISE_IN_CI: Duration = Duration::from_secs(2);
/// The refresh interval of the line of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// The refresh interval where every line stays, as in a log.
const PROGRESS_EVERY_IN_LOG: Duration = Duration::from_secs(10);

/// The context and the results of a test.
#[derive(Debug)]
pub(crate) struct Trial {
    id: &'static str,
    tier: Tier,
    /// Chance, from the seed that was printed.
    pub(crate) random: Random,
    findings: Findings,
    shown_at: Option<Instant>,
}

/// The findings of a test.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// The measurements.
    pub(crate) figures: Vec<(String, String)>,
    /// The violations.
    pub(crate) violations: Vec<String>,
    /// Parts that could not be run here, and why.
    pub(crate) omitted: Vec<String>,
    /// Parts that larger tiers have and this one leaves out on purpose.
    #[serde(default)]
    pub(crate) smaller: Vec<String>,
}

/// A test that cannot be run here, and why.
#[derive(Debug)]
pub(crate) struct NotRun(pub(crate) String);

impl Trial {
    pub(crate) fn new(id: &'static str, tier: Tier, seed: u64) -> Self {
        Self {
            id,
            tier,
            random: Random::new(seed),
            findings: Findings::default(),
            shown_at: None,
        }
    }

    /// Picks a size.
    pub(crate) fn size<T>(&self, ci: T, nightly: T, release: T) -> T {
        self.tier.pick(ci, nightly, release)
    }

    /// Says whether this is more than the smallest tier.
    pub(crate) fn is_thorough(&self) -> bool {
        self.tier != Tier::Ci
    }

    /// Returns the delay below which times are not compared: what the machine's scheduler makes of it.
    ///
    /// In the smallest tier, which runs beside anything on any machine, that is nearly everything.
    pub(crate) fn noise(&self) -> Duration {
        self.size(NOISE_IN_CI, NOISE, NOISE)
    }

    /// Records something measured.
    pub(crate) fn figure(&mut self, what: &str, value: impl ToString) {
        self.findings.figures.push((what.to_owned(), value.to_string()));
    }

    /// Records something that must not be.
    pub(crate) fn violation(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.findings.violations.len() < TOLD_MAX {
            eprintln!("\r{}: VIOLATION: {what}", self.id);
        }
        self.findings.violations.push(what);
    }

    /// Records a violation unless it holds.
    pub(crate) fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violation(what());
        }
    }

    /// Records all of these violations.
    pub(crate) fn violations(&mut self, all: Vec<String>) {
        for violation in all {
            self.violation(violation);
        }
    }

    /// Says that a part could not be run here: what is left has passed in part at best.
    pub(crate) fn omit(&mut self, part: &str, why: &str) {
        eprintln!("\r{}: not run: {part}: {why}", self.id);
        self.findings.omitted.push(format!("{part}: {why}"));
    }

    /// Says that a part lacks a tool that `tests/run` installs; where everything must run, that is a violation.
    pub(crate) fn lack(&mut self, part: &str, tool: &str) {
        let why = format!("{tool} is not installed");
        if must_run_everything() {
            self.violation(format!("{part} was not run: {why}, and all must run"));
        } else {
            self.omit(part, &why);
        }
    }

    /// Says that this tier leaves a part to a larger one; nothing is missing here.
    pub(crate) fn leave_to_larger(&mut self, part: &str) {
        self.findings.smaller.push(part.to_owned());
    }

    /// Says how far the test has come.
    pub(crate) fn progress(&mut self, done: u64, total: u64) {
        let is_terminal = std::io::stderr().is_terminal();
        let every = if is_terminal {
            PROGRESS_EVERY
        } else {
            PROGRESS_EVERY_IN_LOG
        };
        let now = Instant::now();
        if self.shown_at.is_some_and(|shown_at| now - shown_at < every) {
            return;
        }
        self.shown_at = Some(now);
        let percent = (done * 100).checked_div(total).unwrap_or(100);
        let line = format!("{}: {done} of {total} ({percent} %)", self.id);
        let mut stderr = std::io::stderr();
        // The progress line is optional, so a failed write is ignored.
        let _ = if is_terminal {
            write!(stderr, "\r{line}\x1b[K")
        } else {
            writeln!(stderr, "{line}")
        };
    }

    /// Ends the test.
    pub(crate) fn into_findings(self) -> Findings {
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        self.findings
    }
}

/// Says whether this is a run of `tests/run`, which has installed what the tests need.
pub(crate) fn must_run_everything() -> bool {
    std::env::var("CUEME_TESTS").as_deref() == Ok("all")
}
