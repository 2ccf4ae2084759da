//! How it went: the table at the end, the outcomes kept between runs, and the file of figures.

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

/// What earlier attacks broke, and what was done about it.
const FAILED_FIRST: &str = include_str!("../../../prove/failed-first.md");

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Passed,
    /// What was run has passed, and something could not be run.
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

/// What is known after a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    title: String,
    tier: Tier,
    seed: u64,
    at: Timestamp,
    seconds: f64,
    build: String,
    /// What was run, and of which state of the sources; outcomes of older programs do not say.
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

/// Writes the file of figures from everything kept of a tier; what it lacks is taken from smaller ones.
pub(crate) fn write_figures(path: &Path, tier: Tier) -> io::Result<()> {
    let mut text = format!(
        "# Figures\n\nWritten by `prove --tier {} --write tests/FIGURES.md`; nobody types figures by hand. Each row says \
         when, at which commit and in which tier and build it was run, and may be of another run than its neighbours; a \
         commit with a + had changes on top; times of a debug build say little.\n\n",
        tier.name()
    );
    let _ = writeln!(text, "- written: {}\n- machine: {}\n", now(), machine());
    text.push_str("| test | what is done | result | date | commit | tier | seconds | build | seed | figures |\n|---|---|---|---|---|---|---:|---|---|---|\n");
    for proof in PROOFS {
        let kept = tier
            .and_smaller()
            .iter()
            .find_map(|tier| Kept::open(*tier).read(proof.id));
        let row = match kept {
            Some(outcome) => format!(
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
            None => format!(
                "| {} | {} | not run | | | | | | | |",
                proof.id.to_uppercase(),
                proof.title
            ),
        };
        let _ = writeln!(text, "{row}");
    }
    text.push_str("\nWith no failure in *n* tries the chance of one is below 3/*n*, at 95 % confidence.\n\n");
    text.push_str(FAILED_FIRST);
    fs::write(path, text)
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
}
