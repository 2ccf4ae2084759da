//! Compares the cost of a waiting agent, and the answers it loses, with what people use today, all in one run.
//!
//! `tests/bench alternatives` writes the table into `tests/BENCHMARKS.md` and the README. The alternatives are a *prompt* in the agent's own
//! terminal (`read` of a shell) and a *file* that the agent looks at every second until a human has written it.
//!
//! Any other program that asks and waits can stand beside them: `CUEME_OTHER` holds the shell command that waits, and its
//! memory and processor time are measured. For the original cueme, which is no part of this project: install it into a
//! virtual environment, join with it, and name its `cue` with that agent's id and a question.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use cueme_tests::{Home, Signal, eventually, is_alive, resident_kib, send_signal};

/// Rounds of each measurement.
const ROUNDS: usize = 20;
/// Time over which the processor time of a wait is counted.
const WATCHED: Duration = Duration::from_secs(20);
const OTHER: &str = "CUEME_OTHER";

const PROMPT: &str = r#"printf 'Which database? '; read -r answer; echo "$answer""#;
const FILE: &str = "until [ -s answer ]; do sleep 1; done; cat answer; rm answer";
/// Stands where nothing was measured.
const NOTHING: &str = "–";

/// A shell that waits for an answer, in a process group of its own.
struct Waiting {
    child: Child,
    /// Where a human types.
    terminal: Option<ChildStdin>,
}

impl Waiting {
    fn start(script: &str, directory: &Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let terminal = child.stdin.take();
        Self { child, terminal }
    }

    /// Types a line into its terminal; a terminal whose program is gone takes it, and nobody reads it.
    fn type_line(&mut self, line: &str) {
        let mut terminal = self.terminal.take().unwrap();
        let _ = writeln!(terminal, "{line}");
    }

    fn kill(&mut self) {
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        self.child.wait().unwrap();
    }

    fn printed(mut self) -> String {
        drop(self.terminal.take());
        let mut text = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        self.child.wait().unwrap();
        text
    }
}

/// Counts answers that arrive although the waiting process was killed before they were given.
fn kept_after_kill() -> [String; 3] {
    let home = Home::new();
    let agent = home.join();
    let mut kept = [0; 3];
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let prompt = format!("Which database, {round}?");
        let (client, cue) = home.ask(&agent, &prompt, None);
        client.kill();
        home.ok(&["answer", &cue, "SQLite"]);
        let again = home.start_cue(&agent, &prompt, None).finish();
        kept[0] += usize::from(again.stdout.contains("SQLite"));

        let mut killed = Waiting::start(PROMPT, directory.path());
        killed.kill();
        killed.type_line("SQLite");
        kept[1] += usize::from(
            Waiting::start(PROMPT, directory.path())
                .printed()
                .contains("SQLite\n"),
        );

        let mut killed = Waiting::start(FILE, directory.path());
        killed.kill();
        fs::write(directory.path().join("answer"), "SQLite\n").unwrap();
        kept[2] += usize::from(
            Waiting::start(FILE, directory.path())
                .printed()
                .contains("SQLite"),
        );
    }
    kept.map(|kept| format!("{kept} of {ROUNDS}"))
}

/// Counts questions that a human still finds after every process was killed.
fn questions_after_all_is_killed() -> [String; 3] {
    let mut found = [0; 3];
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let home = Home::new();
        let agent = home.join();
        let prompt = format!("Which database, {round}?");
        let (client, _) = home.ask(&agent, &prompt, None);
        client.kill();
        home.kill_broker();
        found[0] += usize::from(home.ok(&["inbox"]).contains(&prompt));
        for (at, script) in [(1, PROMPT), (2, FILE)] {
            Waiting::start(script, directory.path()).kill();
            // A human can find only the files that are left.
            let left = fs::read_dir(directory.path()).unwrap().count();
            found[at] += usize::from(left > 0);
        }
    }
    found.map(|found| format!("{found} of {ROUNDS}"))
}

/// Measures how long it takes from an answer until the waiting call has ended, in the middle of all rounds.
fn delay() -> [String; 3] {
    let home = Home::new();
    let agent = home.join();
    let directory = tempfile::tempdir().unwrap();
    let mut delays: [Vec<Duration>; 3] = Default::default();
    for round in 0..ROUNDS {
        let (client, cue) = home.ask(&agent, &format!("Question {round}?"), None);
        let mut answering = home.command(&["answer", &cue, "SQLite"]);
        let began = Instant::now();
        assert!(answering.output().unwrap().status.success());
        client.finish();
        delays[0].push(began.elapsed());

        let mut waiting = Waiting::start(PROMPT, directory.path());
        let began = Instant::now();
        waiting.type_line("SQLite");
        waiting.printed();
        delays[1].push(began.elapsed());

        let waiting = Waiting::start(FILE, directory.path());
        // A human does not answer in step with the agent's second.
        std::thread::sleep(Duration::from_millis(1_000 + 47 * round as u64));
        let began = Instant::now();
        fs::write(directory.path().join("answer"), "SQLite\n").unwrap();
        waiting.printed();
        delays[2].push(began.elapsed());
    }
    delays.map(|mut delays| {
        delays.sort();
        format!("{:.1} ms", delays[delays.len() / 2].as_secs_f64() * 1_000.0)
    })
}

/// The cost of one wait.
struct Cost {
    memory: String,
    ticks: String,
}

/// Measures a wait of a shell and of all processes that it starts.
fn cost_of(script: &str) -> Cost {
    let directory = tempfile::tempdir().unwrap();
    let mut waiting = Waiting::start(script, directory.path());
    let pid = waiting.child.id();
    eventually("a process that waits", || {
        (resident_kib(pid) > 0 && is_alive(pid)).then_some(())
    });
    let before = ticks(pid);
    std::thread::sleep(WATCHED);
    let cost = Cost {
        memory: mebibytes(
            resident_kib(pid)
                + children(pid)
                    .iter()
                    .map(|child| resident_kib(*child))
                    .sum::<u64>(),
        ),
        ticks: (ticks(pid) - before).to_string(),
    };
    waiting.kill();
    cost
}

fn cost_of_cueme() -> Cost {
    let home = Home::new();
    let agent = home.join();
    let (client, _) = home.ask(&agent, "Which database?", None);
    let (client_pid, broker) = (client.pid(), home.broker_pid());
    let before = ticks(client_pid) + ticks(broker);
    std::thread::sleep(WATCHED);
    let cost = Cost {
        memory: format!(
            "{} (and the broker, once for all agents, {})",
            mebibytes(resident_kib(client_pid)),
            mebibytes(resident_kib(broker))
        ),
        ticks: (ticks(client_pid) + ticks(broker) - before).to_string(),
    };
    send_signal(client_pid, Signal::KILL);
    cost
}

fn mebibytes(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1_024.0)
}

/// Returns the processor time of a process and of the children it has waited for, in the kernel's ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let numbers = fields.split_whitespace().skip(11).take(4);
    numbers.filter_map(|number| number.parse::<u64>().ok()).sum()
}

fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

fn main() {
    let costs = [cost_of_cueme(), cost_of(PROMPT), cost_of(FILE)];
    let other = std::env::var(OTHER).ok().map(|script| cost_of(&script));
    let row = |what: &str, cells: [String; 3], last: &str| {
        let last = other.as_ref().map(|_| format!(" {last} |")).unwrap_or_default();
        println!("| {what} | {} |{last}", cells.join(" | "));
    };
    let cells = |pick: fn(&Cost) -> &String| [0, 1, 2].map(|at| pick(&costs[at]).clone());
    let other_cell = |pick: fn(&Cost) -> &String| other.as_ref().map_or(NOTHING, |cost| pick(cost).as_str());

    row(
        "",
        ["cueme", "prompt in a terminal", "polled file"].map(str::to_owned),
        &format!("`{OTHER}`"),
    );
    row("---", ["---"; 3].map(str::to_owned), "---");
    row(
        "answers delivered after the waiting process was killed",
        kept_after_kill(),
        NOTHING,
    );
    row(
        "questions still open after all processes were killed",
        questions_after_all_is_killed(),
        NOTHING,
    );
    row("answer given → waiting call ended, median", delay(), NOTHING);
    row(
        "memory of a waiting agent",
        cells(|cost| &cost.memory),
        other_cell(|cost| &cost.memory),
    );
    row(
        &format!("processor ticks in {} s of waiting", WATCHED.as_secs()),
        cells(|cost| &cost.ticks),
        other_cell(|cost| &cost.ticks),
    );
}
