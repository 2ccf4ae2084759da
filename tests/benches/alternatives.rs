//! Compares cueme with what people use today, all in one run: what arrives, what the human sees, and what a waiting agent costs.
//!
//! `tests/bench alternatives` writes the table of figures into the README, and it and the table of costs into `tests/BENCHMARKS.md`. The
//! alternatives are a *prompt* in the agent's own terminal (`read` of a shell), which ends with its process, and a *polled file*: the agent
//! writes its question to a file in its directory, and looks every second for a file with the answer.
//!
//! Any other program that asks and waits can stand beside their costs: `CUEME_OTHER` holds the shell command that waits, and its
//! memory and processor time are measured. For the original cueme, which is no part of this project: install it into a
//! virtual environment, join with it, and name its `cue` with that agent's id and a question.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use cueme_tests::{Home, Signal, eventually, is_alive, resident_kib, send_signal};

/// Rounds of each measurement.
const ROUNDS: usize = 20;
/// Agents that ask at the same time.
const AGENTS: usize = 8;
/// Time over which the processor time of a wait is counted.
const WATCHED: Duration = Duration::from_secs(20);
const OTHER: &str = "CUEME_OTHER";

/// Asks in the terminal of the agent.
fn prompt(question: &str) -> String {
    format!(r#"printf '{question} '; read -r answer; echo "$answer""#)
}

/// Asks with a file, and polls another one for the answer.
fn polled_file(question: &str) -> String {
    format!(
        "echo '{question}' >question; until [ -s answer ]; do sleep 1; done; cat answer; rm -f answer question"
    )
}

/// A shell that waits for an answer, in a process group of its own.
struct Waiting {
    child: Child,
    /// The terminal that a human types in.
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

    /// Reads what its terminal shows until it waits.
    fn shown(&mut self) -> String {
        let mut bytes = [0; 1_024];
        let count = self.child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
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

/// Waits until a file with the question is there, which a shell writes some time after it has started.
fn wait_for_question(directory: &Path) {
    let question = directory.join("question");
    eventually("a question in a file", || {
        fs::metadata(&question)
            .is_ok_and(|file| file.len() > 0)
            .then_some(())
    });
}

fn of_rounds(counts: [usize; 3]) -> [String; 3] {
    counts.map(|count| format!("{count} of {ROUNDS}"))
}

/// Counts answers that arrive although the waiting process was killed before they were given.
fn kept_after_kill() -> [String; 3] {
    let home = Home::new();
    let agent = home.join();
    let mut kept = [0; 3];
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let question = format!("Which database, {round}?");
        let (client, cue) = home.ask(&agent, &question, None);
        client.kill();
        home.ok(&["answer", &cue, "SQLite"]);
        let again = home.start_cue(&agent, &question, None).finish();
        kept[0] += usize::from(again.stdout.contains("SQLite"));

        let mut killed = Waiting::start(&prompt(&question), directory.path());
        killed.kill();
        killed.type_line("SQLite");
        let again = Waiting::start(&prompt(&question), directory.path());
        kept[1] += usize::from(again.printed().contains("SQLite\n"));

        let mut killed = Waiting::start(&polled_file(&question), directory.path());
        wait_for_question(directory.path());
        killed.kill();
        fs::write(directory.path().join("answer"), "SQLite\n").unwrap();
        let again = Waiting::start(&polled_file(&question), directory.path());
        kept[2] += usize::from(again.printed().contains("SQLite"));
    }
    of_rounds(kept)
}

/// Counts answers to a killed question that the next question takes for its own.
fn taken_by_another() -> [String; 3] {
    /// The beginning of an outcome that `cueme` prints for a question that was asked before.
    const EARLIER: &str = "[outcome of your earlier question";
    let home = Home::new();
    let agent = home.join();
    let mut taken = [0; 3];
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let (old, next) = (
            format!("Which database, {round}?"),
            format!("Delete the data, {round}?"),
        );
        let (client, cue) = home.ask(&agent, &old, None);
        client.kill();
        home.ok(&["answer", &cue, "SQLite"]);
        let heard = home.ask_for("1s", &agent, &next, None).stdout;
        assert!(heard.contains("SQLite"), "{heard}");
        let is_open = home.open(&next).is_some();
        taken[0] += usize::from(!heard.starts_with(EARLIER) || !is_open);

        let mut killed = Waiting::start(&prompt(&old), directory.path());
        killed.kill();
        killed.type_line("SQLite");
        let next_one = Waiting::start(&prompt(&next), directory.path());
        taken[1] += usize::from(next_one.printed().contains("SQLite\n"));

        let mut killed = Waiting::start(&polled_file(&old), directory.path());
        wait_for_question(directory.path());
        killed.kill();
        fs::write(directory.path().join("answer"), "SQLite\n").unwrap();
        let next_one = Waiting::start(&polled_file(&next), directory.path());
        taken[2] += usize::from(next_one.printed().contains("SQLite"));
    }
    of_rounds(taken)
}

/// Counts questions that a human sees in one place: an inbox, a terminal, a directory.
fn seen_in_one_place() -> [String; 3] {
    let home = Home::new();
    let questions: Vec<String> = (0..AGENTS).map(|agent| format!("Question {agent}?")).collect();
    let clients: Vec<_> = questions
        .iter()
        .map(|question| home.ask(&home.join(), question, None).0)
        .collect();
    let inbox = home.ok(&["inbox"]);
    drop(clients);

    let directories: Vec<_> = questions.iter().map(|_| tempfile::tempdir().unwrap()).collect();
    let start = |script: fn(&str) -> String| -> Vec<Waiting> {
        let agents = questions.iter().zip(&directories);
        agents
            .map(|(question, directory)| Waiting::start(&script(question), directory.path()))
            .collect()
    };
    let mut prompts = start(prompt);
    let terminal = prompts[0].shown();
    prompts.iter_mut().for_each(Waiting::kill);
    let mut files = start(polled_file);
    for directory in &directories {
        wait_for_question(directory.path());
    }
    let directory = fs::read_to_string(directories[0].path().join("question")).unwrap();
    files.iter_mut().for_each(Waiting::kill);

    [inbox, terminal, directory].map(|shown| {
        let seen = questions
            .iter()
            .filter(|question| shown.contains(question.as_str()));
        format!("{} of {AGENTS}", seen.count())
    })
}

/// Counts killed agents of which the human sees that they no longer wait.
fn killed_agents_seen() -> [String; 3] {
    let home = Home::new();
    let mut seen = [0; 3];
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let question = format!("Which database, {round}?");
        let (client, cue) = home.ask(&home.join(), &question, None);
        client.kill();
        home.wait_until_unattended(&question);
        let inbox = home.ok(&["inbox"]);
        let line = inbox.lines().find(|line| line.starts_with(&cue)).unwrap();
        seen[0] += usize::from(line.contains("stopped listening"));
        home.ok(&["cancel", &cue]);

        // A terminal ends with its program.
        let mut killed = Waiting::start(&prompt(&question), directory.path());
        let shown = killed.shown();
        killed.kill();
        seen[1] += usize::from(shown.contains(&question) && killed.shown().is_empty());

        let mut killed = Waiting::start(&polled_file(&question), directory.path());
        wait_for_question(directory.path());
        let before = snapshot(directory.path());
        killed.kill();
        seen[2] += usize::from(snapshot(directory.path()) != before);
        fs::remove_file(directory.path().join("question")).unwrap();
    }
    of_rounds(seen)
}

/// Returns the names of the files in a directory, with their contents and the times of their last changes.
fn snapshot(directory: &Path) -> Vec<(PathBuf, String, SystemTime)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            (path.clone(), fs::read_to_string(path).unwrap(), changed)
        })
        .collect();
    files.sort();
    files
}

/// Measures how long it takes from an answer until the waiting call has ended, in the middle of all rounds. The start of `cueme answer`
/// is part of it.
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

        let mut waiting = Waiting::start(&prompt("Which database?"), directory.path());
        waiting.shown();
        let began = Instant::now();
        waiting.type_line("SQLite");
        waiting.printed();
        delays[1].push(began.elapsed());

        let waiting = Waiting::start(&polled_file("Which database?"), directory.path());
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

/// Prints a row of a table.
fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// Prints the beginning of a table with these columns.
fn heading(columns: &[&str]) {
    row(&columns.iter().map(ToString::to_string).collect::<Vec<_>>());
    row(&vec!["---".to_owned(); columns.len()]);
}

const COLUMNS: [&str; 4] = ["", "cueme", "prompt in a terminal", "polled file"];

/// Where the README's rows are explained.
const EXPLAINED: &str = "tests/BENCHMARKS.md#beside-what-people-use-today";

/// Prints what the README shows.
fn print_figures() {
    heading(&COLUMNS);
    let rows = [
        (
            "answers delivered after the waiting process was killed",
            kept_after_kill(),
        ),
        (
            "old answers taken for the answer to the next question",
            taken_by_another(),
        ),
        (
            "questions of eight agents that you see in one place",
            seen_in_one_place(),
        ),
        (
            "killed agents that are shown as no longer waiting",
            killed_agents_seen(),
        ),
        ("answer given → waiting call ended, median", delay()),
    ];
    for (what, cells) in rows {
        row(&[&[format!("[{what}]({EXPLAINED})")][..], &cells].concat());
    }
}

fn print_costs() {
    let other = std::env::var(OTHER).ok().map(|script| cost_of(&script));
    let scripts = [prompt, polled_file].map(|script| script("Which database?"));
    let mut costs = vec![cost_of_cueme(), cost_of(&scripts[0]), cost_of(&scripts[1])];
    let mut columns = COLUMNS.to_vec();
    if let Some(other) = other {
        columns.push("`CUEME_OTHER`");
        costs.push(other);
    }
    heading(&columns);
    let cells = |what: String, pick: fn(&Cost) -> &String| {
        let cells: Vec<String> = std::iter::once(what)
            .chain(costs.iter().map(|cost| pick(cost).clone()))
            .collect();
        row(&cells);
    };
    cells("memory of a waiting agent".to_owned(), |cost| &cost.memory);
    let ticks = format!("processor ticks in {} s of waiting", WATCHED.as_secs());
    cells(ticks, |cost| &cost.ticks);
}

fn main() {
    let has = |name: &str| std::env::args().any(|argument| argument == name);
    match (has("figures"), has("costs")) {
        (true, false) => print_figures(),
        (false, true) => print_costs(),
        _ => {
            print_figures();
            println!();
            print_costs();
        }
    }
}
