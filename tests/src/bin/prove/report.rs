//! Reports the results: the table at the end, the outcomes kept between runs, and the file of figures.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol_spec::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::proofs::{PROOFS, Proof};
use crate::tier::Tier;
use crate::trial::Findings;

/// Failures that earlier attacks found, and their fixes.
const FAILED_FIRST: &str = include_str!("../../../prove/failed-first.md");

/// The place of the tier in a row of the figures.
const TIER_COLUMN: usize = 5;

/// The verdict of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Passed,
    /// All parts that ran have passed, and some parts could not run.
    PassedInPart,
    Failed,
    NotRun,
}

impl Verdict {
    /// Returns the word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::PassedInPart => "passed in part",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
        }
    }
}

/// The outcome of a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    title: String,
    tier: Tier,
    seed: u64,
    at: Timestamp,
    seconds: f64,
    build: String,
    /// The tested programs and the state of their sources; outcomes of older programs do not have it.
    #[serde(default)]
    program: Program,
    pub(crate) verdict: Verdict,
    /// Why it was not run, if it was not.
    why_not: Option<String>,
    findings: Findings,
}

impl Outcome {
    pub(crate) fn new(
        proof: Proof,
        tier: Tier,
        seed: u64,
        took: Duration,
        program: &Program,
        why_not: Option<String>,
        findings: Findings,
    ) -> Self {
        let verdict = verdict(why_not.is_some(), &findings);
        Self {
            id: proof.id.to_owned(),
            title: proof.title.to_owned(),
            tier,
            seed,
            at: now(),
            seconds: took.as_secs_f64(),
            build: if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            }
            .to_owned(),
            program: program.clone(),
            verdict,
            why_not,
            findings,
        }
    }

    /// Returns the first of what must not be.
    pub(crate) fn first_violation(&self) -> Option<&str> {
        self.findings.violations.first().map(String::as_str)
    }

    /// Says whether it can stand for another run of this program: all of it passed, and nothing was rebuilt since.
    pub(crate) fn stands_for(&self, program: &Program) -> bool {
        self.verdict == Verdict::Passed && self.program.is_same(program)
    }

    /// Returns everything measured, in one line.
    fn figures(&self) -> String {
        let mut parts: Vec<String> = self
            .findings
            .figures
            .iter()
            .map(|(what, value)| format!("{what} {value}"))
            .collect();
        parts.extend(self.why_not.iter().map(|why| format!("not run: {why}")));
        parts.extend(
            self.findings
                .omitted
                .iter()
                .map(|part| format!("not run: {part}")),
        );
        parts.extend(
            self.findings
                .smaller
                .iter()
                .map(|part| format!("left to larger tiers: {part}")),
        );
        if let Some(first) = self.findings.violations.first() {
            parts.push(format!(
                "{} violations, first: {first}",
                self.findings.violations.len()
            ));
        }
        parts.join("; ")
    }
}

fn verdict(is_not_run: bool, findings: &Findings) -> Verdict {
    if !findings.violations.is_empty() {
        Verdict::Failed
    } else if is_not_run {
        Verdict::NotRun
    } else if !findings.omitted.is_empty() {
        Verdict::PassedInPart
    } else {
        Verdict::Passed
    }
}

/// Outcomes of one tier, kept between runs so that a long one can be split and resumed.
#[derive(Debug)]
pub(crate) struct Kept {
    directory: PathBuf,
}

impl Kept {
    pub(crate) fn open(tier: Tier) -> Self {
        let target = std::env::current_exe().unwrap_or_default();
        let target = target.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        Self::below(target, tier)
    }

    /// Opens those of the programs that were built into this directory.
    pub(crate) fn below(target: &Path, tier: Tier) -> Self {
        let directory = target.join("prove").join(tier.name());
        if let Err(error) = fs::create_dir_all(&directory) {
            eprintln!("warning: outcomes are not kept: {}: {error}", directory.display());
        }
        Self { directory }
    }

    pub(crate) fn read(&self, id: &str) -> Option<Outcome> {
        serde_json::from_slice(&fs::read(self.path(id)).ok()?).ok()
    }

    pub(crate) fn write(&self, outcome: &Outcome) {
        let written = serde_json::to_vec_pretty(outcome)
            .map_err(io::Error::from)
            .and_then(|json| fs::write(self.path(&outcome.id), json));
        if let Err(error) = written {
            eprintln!("warning: the outcome of {} is not kept: {error}", outcome.id);
        }
    }

    /// Forgets an outcome, so that whatever is read later is new.
    pub(crate) fn forget(&self, id: &str) {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                panic!("the outcome of {id} cannot be forgotten: {error}")
            }
            _ => {}
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }
}

/// Prints how each test ended.
pub(crate) fn print_table(outcomes: &[Outcome]) {
    println!();
    for outcome in outcomes {
        println!(
            "{:4} {:14} {:7.1} s  {}",
            outcome.id,
            outcome.verdict.word(),
            outcome.seconds,
            outcome.title
        );
        println!("     {}", outcome.figures());
    }
    let count = |verdict| {
        outcomes
            .iter()
            .filter(|outcome| outcome.verdict == verdict)
            .count()
    };
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    println!(
        "\n{} passed, {} passed in part, {} failed, {} not run, {seconds:.0} s",
        count(Verdict::Passed),
        count(Verdict::PassedInPart),
        count(Verdict::Failed),
        count(Verdict::NotRun)
    );
}

/// Writes the file of figures from everything kept of a tier. A test without an outcome in it keeps its row of the file as it stands,
/// with the date and commit of its own run; a row of a smaller tier gives way to a newer outcome of one.
pub(crate) fn write_figures(path: &Path, tier: Tier) -> io::Result<()> {
    let old = match fs::read_to_string(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        old => old.unwrap_or_default(),
    };
    let mut text = format!(
        "# Figures\n\nWritten by `prove --tier {} --write tests/FIGURES.md`; nobody types figures by hand. Each row has the date, \
         commit, tier and build of its own run, which may differ from those of its neighbours. A commit with a `+` had \
         uncommitted changes; times of a debug build say little.\n\n",
        tier.name()
    );
    let _ = writeln!(text, "- written: {}\n- machine: {}\n", now(), machine());
    text.push_str("| test | what is done | result | date | commit | tier | seconds | build | seed | figures |\n|---|---|---|---|---|---|---:|---|---|---|\n");
    for proof in PROOFS {
        let kept = tier
            .and_smaller()
            .iter()
            .find_map(|tier| Kept::open(*tier).read(proof.id));
        let row = row(*proof, kept.as_ref(), recorded_row(&old, proof.id), tier);
        let _ = writeln!(text, "{row}");
    }
    text.push_str("\nWith no failure in *n* tries the chance of one is below 3/*n*, at 95 % confidence.\n\n");
    text.push_str(FAILED_FIRST);
    fs::write(path, text)
}

/// Returns the row of a test: its new outcome, or the row that was recorded.
fn row(proof: Proof, kept: Option<&Outcome>, recorded: Option<&str>, tier: Tier) -> String {
    match (kept, recorded) {
        (Some(outcome), Some(recorded)) if outcome.tier != tier && is_of_tier(recorded, tier) => {
            recorded.to_owned()
        }
        (Some(outcome), _) => format!(
            "| {} | {} | {} | {} | {} | {} | {:.0} | {} | {} | {} |",
            outcome.id.to_uppercase(),
            outcome.title,
            outcome.verdict.word(),
            day(outcome.at),
            outcome.program.commit(),
            outcome.tier.name(),
            outcome.seconds,
            outcome.build,
            outcome.seed,
            outcome.figures().replace('|', "\\|").replace('\n', " ")
        ),
        (None, Some(recorded)) => recorded.to_owned(),
        (None, None) => format!(
            "| {} | {} | not run | | | | | | | |",
            proof.id.to_uppercase(),
            proof.title
        ),
    }
}

/// Returns the row of a test in a file of figures, if one was recorded there.
fn recorded_row<'a>(figures: &'a str, id: &str) -> Option<&'a str> {
    let beginning = format!("| {} | ", id.to_uppercase());
    // The table of faults below begins its rows like this one.
    let mut lines = figures.split("\n## ").next()?.lines();
    lines.find(|line| line.starts_with(&beginning) && !line.contains(" | not run | "))
}

fn is_of_tier(row: &str, tier: Tier) -> bool {
    row.split(" | ").nth(TIER_COLUMN) == Some(tier.name())
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the day of a moment.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take("2026-01-01".len()).collect()
}

/// Describes the machine by what its system says of it.
fn machine() -> String {
    let line = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let found = text.lines().find(|line| line.starts_with(key)).map(str::to_owned);
        found.and_then(|line| line.split_once(':').map(|(_, value)| value.trim().to_owned()))
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = line("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cores} cores ({model}), {memory} of memory, Linux {}",
        kernel.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(violations: &[&str], omitted: &[&str], smaller: &[&str]) -> Findings {
        let all = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Findings {
            figures: Vec::new(),
            violations: all(violations),
            omitted: all(omitted),
            smaller: all(smaller),
        }
    }

    #[test]
    fn only_what_was_run_as_a_whole_has_passed() {
        let cases = [
            (false, findings(&[], &[], &[]), Verdict::Passed),
            (false, findings(&[], &[], &["much of it"]), Verdict::Passed),
            (false, findings(&[], &["a browser"], &[]), Verdict::PassedInPart),
            (false, findings(&["lost"], &["a browser"], &[]), Verdict::Failed),
            (true, findings(&[], &["a browser"], &[]), Verdict::NotRun),
            (true, findings(&["lost"], &[], &[]), Verdict::Failed),
        ];
        for (is_not_run, findings, expected) in cases {
            assert_eq!(
                verdict(is_not_run, &findings),
                expected,
                "{is_not_run} {findings:?}"
            );
        }
    }

    #[test]
    fn an_outcome_stands_for_a_later_run_of_the_same_programs_alone() {
        let program = Program::with_digests(&["cueme", "prove"]);
        let outcome = |findings| {
            let took = Duration::from_secs(1);
            Outcome::new(PROOFS[0], Tier::Ci, 1, took, &program, None, findings)
        };
        let passed = outcome(findings(&[], &[], &[]));
        assert!(passed.stands_for(&program));
        assert!(!passed.stands_for(&Program::default()), "of other programs");
        assert!(!outcome(findings(&[], &["a browser"], &[])).stands_for(&program));
        // As it was written before programs were kept.
        let mut old = serde_json::to_value(&passed).unwrap_or_default();
        let fields = old.as_object_mut().map(|fields| fields.remove("program"));
        assert!(fields.flatten().is_some());
        let old: Outcome = serde_json::from_value(old).unwrap_or_else(|error| panic!("{error}"));
        assert!(!old.stands_for(&program));
    }

    #[test]
    fn a_test_that_was_not_run_again_keeps_its_recorded_row() {
        let recorded = "| R1 | kill -9 of everything | passed | 2026-11-17 | cedab7b | nightly | 452 | release | 1 | cycles 10000 |";
        let figures = format!(
            "# Figures\n\n{recorded}\n\
                               | R10 | clocks that are set | not run | | | | | | | |\n\n## What failed first\n\n| R10 | a fault |\n"
        );
        assert_eq!(recorded_row(&figures, "r1"), Some(recorded));
        assert_eq!(recorded_row(&figures, "r2"), None);
        assert_eq!(recorded_row(&figures, "r10"), None, "there is nothing to keep");
        let outcome = |tier| {
            let took = Duration::from_secs(1);
            let program = Program::with_digests(&["cueme", "prove"]);
            Outcome::new(PROOFS[0], tier, 7, took, &program, None, findings(&[], &[], &[]))
        };
        let row = |kept: Option<&Outcome>, recorded, tier| super::row(PROOFS[0], kept, recorded, tier);
        let (ci, nightly) = (outcome(Tier::Ci), outcome(Tier::Nightly));
        assert_eq!(row(None, Some(recorded), Tier::Nightly), recorded);
        assert_eq!(row(Some(&ci), Some(recorded), Tier::Nightly), recorded);
        assert!(row(Some(&nightly), Some(recorded), Tier::Nightly).contains(" | nightly | 1 | "));
        assert!(row(Some(&ci), Some(recorded), Tier::Ci).contains(" | ci | 1 | "));
        assert!(row(Some(&ci), None, Tier::Nightly).contains(" | ci | 1 | "));
        assert!(row(None, None, Tier::Nightly).contains(" | not run | "));
    }
}
