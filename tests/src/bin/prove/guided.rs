//! `cargo fuzz`, where it is installed: the readers of `tests/fuzz` with inputs that follow what the code does.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::processors;
use crate::load::seconds;
use crate::trial::Trial;

/// The longest input, in bytes.
const INPUT_BYTES_MAX: usize = 4096;

/// Drives each reader for a while, as many at a time as the machine has processors; returns how often they were run.
pub(crate) fn run(trial: &mut Trial, readers: &[&'static str], lasts: Duration) -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    if !is_installed(&folder) {
        trial.omit(
            "guided by coverage",
            "it takes a nightly toolchain and `cargo install cargo-fuzz`",
        );
        return 0;
    }
    let started = Instant::now();
    if !build(&folder) {
        trial.violation("the readers do not build for `cargo fuzz`");
        return 0;
    }
    trial.figure("building the readers", seconds(started.elapsed()));
    let mut executions = 0;
    let rounds = readers.chunks(processors());
    let total = rounds.len() as u64;
    for (round, names) in (0..).zip(rounds) {
        trial.progress(round, total);
        let runs: Vec<Guided> = names
            .iter()
            .map(|name| Guided::start(&folder, name, lasts))
            .collect();
        for run in runs {
            let (name, outcome) = run.ended();
            let outcome = outcome.unwrap_or_else(|report| {
                trial.violation(format!("{name}: {report}"));
                0
            });
            trial.figure(&format!("{name}, guided"), outcome);
            executions += outcome;
        }
    }
    executions
}

fn is_installed(folder: &Path) -> bool {
    let asked = fuzz(folder).arg("--version").stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn build(folder: &Path) -> bool {
    let built = fuzz(folder).arg("build").stderr(Stdio::inherit()).status();
    built.is_ok_and(|status| status.success())
}

/// Returns the beginning of every command; sanitised, and with the checks of a debug build.
fn fuzz(folder: &Path) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz"])
        .current_dir(folder)
        // The toolchain of this program is not the one to be used.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// One reader that is being driven.
struct Guided {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Guided {
    fn start(folder: &Path, name: &'static str, lasts: Duration) -> Self {
        // New inputs go to a folder beside the versioned corpus; `cargo fuzz cmin` selects the ones worth keeping.
        let found = folder.join("target/found").join(name);
        std::fs::create_dir_all(&found).unwrap_or_else(|error| panic!("{}: {error}", found.display()));
        let log = folder.join("target/found").join(format!("{name}.log"));
        let stderr = File::create(&log).unwrap_or_else(|error| panic!("{}: {error}", log.display()));
        let child = fuzz(folder)
            .args(["run", name])
            .arg(&found)
            .arg(folder.join("corpus").join(name))
            .arg("--")
            .arg(format!("-max_total_time={}", lasts.as_secs()))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .args(["-timeout=1", "-rss_limit_mb=512", "-print_final_stats=1"])
            .stderr(stderr)
            .spawn()
            .unwrap_or_else(|error| panic!("cargo fuzz: {error}"));
        Self { name, child, log }
    }

    /// Waits for the end; returns how often the reader was run, or the end of what it wrote if it did not hold.
    fn ended(mut self) -> (&'static str, Result<u64, String>) {
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return (self.name, Err(error.to_string())),
        };
        let log = std::fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let executions = log
            .lines()
            .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
            .and_then(|number| number.trim().parse().ok());
        let outcome = match executions {
            Some(executions) if status.success() => Ok(executions),
            _ => Err(last_lines(&log)),
        };
        (self.name, outcome)
    }
}

/// Returns the end of what a program wrote.
pub(crate) fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
