//! R19: the tests have teeth: bugs are put into a copy of the program, and each must be caught.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Deserialize;

use crate::guided::last_lines;
use crate::load::seconds;
use crate::report::{Kept, Outcome, Verdict};
use crate::tier::Tier;
use crate::trial::{NotRun, Trial};

/// The bugs.
const BUGS: &str = include_str!("../../../prove/bugs.toml");

/// The timeout of each test, in seconds.
const PATIENCE_SEC: usize = 300;

/// A bug: one piece of code that is replaced.
#[derive(Debug, Clone, Deserialize)]
struct Bug {
    name: String,
    file: PathBuf,
    find: String,
    replace: String,
    /// The tests of which one must fail.
    caught_by: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bugs {
    bug: Vec<Bug>,
}

/// Seeds each bug, builds, and runs what must catch it.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let bugs: Bugs = toml::from_str(BUGS).unwrap_or_else(|error| panic!("bugs.toml: {error}"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // Also where they are not seeded, they must still be possible.
    for bug in &bugs.bug {
        let text = std::fs::read_to_string(sources.join(&bug.file)).unwrap_or_default();
        trial.check(text.matches(&bug.find).count() == 1, || {
            format!("{:?} does not say once what {:?} replaces", bug.file, bug.name)
        });
    }
    trial.figure("bugs", bugs.bug.len());
    if !trial.is_thorough() {
        return Err(NotRun("seeding a bug takes a build; see nightly".into()));
    }
    let copy = Copy::of(&sources)?;
    let controls: std::collections::BTreeSet<&str> = bugs
        .bug
        .iter()
        .flat_map(|bug| bug.caught_by.iter().map(String::as_str))
        .collect();
    let started = Instant::now();
    assert!(copy.build(), "the copy does not build");
    trial.figure("building the copy", seconds(started.elapsed()));
    for (test, ending) in copy.prove(&controls.into_iter().collect::<Vec<_>>()) {
        trial.check(ending == Ending::Passed, || {
            format!("without a bug {test} does not pass either, and proves nothing: {ending:?}")
        });
    }
    let mut caught = 0;
    let total = bugs.bug.len() as u64;
    for (number, bug) in (0..).zip(&bugs.bug) {
        let tests: Vec<&str> = bug.caught_by.iter().map(String::as_str).collect();
        copy.seed(bug);
        let is_built = copy.build();
        trial.check(is_built, || format!("{:?} does not build", bug.name));
        let endings = if is_built { copy.prove(&tests) } else { Vec::new() };
        copy.mend(&sources, bug);
        // A test that ends in no outcome says nothing: it may as well have stumbled over itself.
        let told = endings.iter().find_map(|(test, ending)| match ending {
            Ending::Failed(violation) => Some(format!("{test}: {violation}")),
            Ending::Passed | Ending::NotRun | Ending::Nothing => None,
        });
        trial.check(told.is_some(), || {
            format!("{:?} was not caught by {endings:?}", bug.name)
        });
        eprintln!("r19: {:?}: {}", bug.name, told.as_deref().unwrap_or("not caught"));
        caught += u64::from(told.is_some());
        trial.progress(number + 1, total);
    }
    trial.figure("caught", caught);
    Ok(())
}

/// The result of a test of the copy.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Passed,
    /// With this violation, and maybe others.
    Failed(String),
    NotRun,
    /// Without an outcome: it hung, or could not be run at all.
    Nothing,
}

impl Ending {
    fn of(outcome: Option<&Outcome>) -> Self {
        match outcome.map(|outcome| outcome.verdict) {
            Some(Verdict::Passed | Verdict::PassedInPart) => Self::Passed,
            Some(Verdict::Failed) => Self::Failed(
                outcome
                    .and_then(Outcome::first_violation)
                    .unwrap_or_default()
                    .to_owned(),
            ),
            Some(Verdict::NotRun) => Self::NotRun,
            None => Self::Nothing,
        }
    }
}

/// A copy of the sources with a target directory of its own.
pub(crate) struct Copy {
    pub(crate) directory: PathBuf,
}

impl Copy {
    pub(crate) fn of(sources: &Path) -> Result<Self, NotRun> {
        let directory = sources.join("target/prove/seeded");
        std::fs::create_dir_all(&directory).map_err(|error| NotRun(error.to_string()))?;
        let script = format!(
            "git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t '{}'",
            directory
                .canonicalize()
                .map_err(|error| NotRun(error.to_string()))?
                .display()
        );
        let copied = Command::new("sh")
            .args(["-c", &script])
            .current_dir(sources)
            .status();
        if copied.is_ok_and(|status| status.success()) {
            Ok(Self { directory })
        } else {
            Err(NotRun(
                "the sources cannot be copied; git is needed for it".into(),
            ))
        }
    }

    fn seed(&self, bug: &Bug) {
        let path = self.directory.join(&bug.file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
        std::fs::write(path, text.replacen(&bug.find, &bug.replace, 1))
            .unwrap_or_else(|error| panic!("{error}"));
    }

    fn mend(&self, sources: &Path, bug: &Bug) {
        let text = std::fs::read(sources.join(&bug.file)).unwrap_or_else(|error| panic!("{error}"));
        std::fs::write(self.directory.join(&bug.file), text).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Builds the copy, with the flags of everybody else who builds there: what it depends on is built once. Says so if
    /// it cannot be built, and nothing of what a seeded bug leaves unused.
    fn build(&self) -> bool {
        let built = Command::new("cargo")
            .args([
                "build",
                "--quiet",
                "-p",
                "cueme",
                "-p",
                "cueme-tests",
                "--bin",
                "cueme",
                "--bin",
                "prove",
            ])
            .env_remove("CUEME_BIN")
            .current_dir(&self.directory)
            .output();
        match built {
            Ok(output) if output.status.success() => true,
            Ok(output) => {
                eprintln!("r19: {}", last_lines(&String::from_utf8_lossy(&output.stderr)));
                false
            }
            Err(error) => {
                eprintln!("r19: cargo cannot be run: {error}");
                false
            }
        }
    }

    /// Runs tests of the copy, and reads what they kept of how they ended.
    fn prove<'a>(&self, tests: &[&'a str]) -> Vec<(&'a str, Ending)> {
        let built = self.directory.join("target/debug");
        let kept = Kept::below(&self.directory.join("target"), Tier::Ci);
        for test in tests {
            kept.forget(test);
        }
        let ended = Command::new("timeout")
            .arg((PATIENCE_SEC * tests.len()).to_string())
            .arg(built.join("prove"))
            .args(tests)
            .args(["--tier", "ci"])
            .env("CUEME_BIN", built.join("cueme"))
            .current_dir(&self.directory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if let Err(error) = ended {
            eprintln!("r19: the copy's tests cannot be run: {error}");
        }
        let ending = |test: &&'a str| (*test, Ending::of(kept.read(test).as_ref()));
        tests.iter().map(ending).collect()
    }
}
