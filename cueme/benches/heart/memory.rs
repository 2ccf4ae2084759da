//! The use of memory: the heap of a broker with many waiters, and of one client that waits, as heaptrack sees them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cueme_test_kit::Wire;
use rustix::process::{Pid, Signal, kill_process};

use crate::home::{CUEME, Home, connect, stop_broker};
use crate::process::raise_descriptor_limit;
use crate::rows::PROMPT;
use crate::table::{Goal, Row};

const WAITERS: usize = 4000;
const WAITERS_PER_AGENT: usize = 200;

/// Something that takes memory, and the functions by which it is known in a stack; the first that is there counts.
type Part = (&'static str, &'static [&'static str]);

const OF_A_BROKER: [Part; 8] = [
    (
        "SQLite: caches, statements and schemas, whoever waits",
        &["sqlite3", "rusqlite"],
    ),
    ("the connection's task", &["listen::admit"]),
    ("its channel for replies", &["mpsc::chan::channel", "mpsc::list"]),
    (
        "the question, its text and its callers in the rules",
        &["machine::", "engine::"],
    ),
    ("the end of the line that was read last", &["frame::Splitter"]),
    ("the runtime's own record of its socket", &["registration_set"]),
    ("the list of what it waits for", &["dispatch::wait"]),
    ("everything else", &[]),
];

const OF_A_CLIENT: [Part; 4] = [
    ("the arguments' definition", &["clap_builder", "cli::"]),
    (
        "what is read from and written to the broker",
        &["client::", "protocol_spec"],
    ),
    ("the standard library's start", &["lang_start", "std::rt"]),
    ("everything else", &[]),
];

/// In the stack of what heaptrack brings along: the C++ library it is loaded with keeps 71 KiB for exceptions.
const OF_THE_PROFILER: &str = "_dl_init";

pub(crate) fn measure(_: usize) -> Vec<Row> {
    let is_possible = Command::new("heaptrack")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !is_possible.is_ok_and(|status| status.success()) {
        eprintln!("not measured: memory takes heaptrack");
        return Vec::new();
    }
    raise_descriptor_limit();
    let mut rows = broker();
    rows.extend(client());
    rows
}

/// The heap at its largest, with everybody waiting.
fn broker() -> Vec<Row> {
    let home = tempfile::tempdir().expect("a directory");
    let profile = home.path().join("profile");
    let mut tracked = Command::new("heaptrack")
        .arg("--output")
        .arg(&profile)
        .args([CUEME, "broker", "run"])
        .env("CUEME_HOME", home.path())
        .env("CUEME_LOG", "error")
        .stdout(Stdio::piped())
        .spawn()
        .expect("heaptrack");
    let mut printed = BufReader::new(tracked.stdout.take().expect("its output")).lines();
    assert!(printed.any(|line| line.is_ok_and(|line| line.starts_with("ready"))));
    let socket = home.path().join("broker.sock");
    let mut first = connect(&socket);
    let agents: Vec<_> = (0..WAITERS / WAITERS_PER_AGENT)
        .map(|_| first.join("terminal", "/"))
        .collect();
    let waiters: Vec<Wire> = (0..WAITERS)
        .map(|number| {
            let mut wire = connect(&socket);
            wire.ask(&agents[number % agents.len()], &format!("question {number}"));
            wire
        })
        .collect();
    stop_broker(home.path());
    printed.for_each(drop);
    tracked.wait().expect("its end");
    drop(waiters);
    told(
        "of a broker with 4,000 waiters: ",
        &OF_A_BROKER,
        &stacks(&profile),
    )
}

fn client() -> Vec<Row> {
    let home = Home::start();
    let agent = home.connect().join("terminal", "/");
    let directory = tempfile::tempdir().expect("a directory");
    let (profile, question) = (
        directory.path().join("profile"),
        directory.path().join("question"),
    );
    std::fs::write(&question, format!("<cueme_prompt>\n{PROMPT}\n</cueme_prompt>\n")).expect("a question");
    let mut tracked = Command::new("heaptrack")
        .arg("--output")
        .arg(&profile)
        .args([CUEME, "cue", agent.as_str(), "-"])
        .env("CUEME_HOME", home.path())
        .stdin(std::fs::File::open(&question).expect("a question"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("heaptrack");
    std::thread::sleep(Duration::from_secs(3));
    let clients = Command::new("pgrep")
        .args(["--full", &format!("^{CUEME} cue {agent}")])
        .output()
        .expect("pgrep");
    let pid: i32 = String::from_utf8_lossy(&clients.stdout)
        .trim()
        .parse()
        .expect("a client that waits");
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::INT).expect("a client");
    tracked.wait().expect("its end");
    told("of a waiting client: ", &OF_A_CLIENT, &stacks(&profile))
}

/// Returns the stacks that held memory when most of it was held, with how many bytes.
fn stacks(profile: &Path) -> Vec<(String, u64)> {
    let folded = profile.with_extension("folded");
    let profile = ["zst", "gz"].map(|kind| profile.with_extension(kind));
    let profile = profile.iter().find(|path| path.exists()).expect("a profile");
    let printed = Command::new("heaptrack_print")
        .arg(profile)
        .args(["--flamegraph-cost-type", "peak", "--print-flamegraph"])
        .arg(&folded)
        .stdout(Stdio::null())
        .status();
    assert!(printed.is_ok_and(|status| status.success()));
    let text = std::fs::read_to_string(&folded).expect("stacks");
    text.lines()
        .filter(|line| !line.contains(OF_THE_PROFILER))
        .filter_map(|line| {
            let (stack, bytes) = line.rsplit_once(' ')?;
            Some((stack.to_owned(), bytes.parse().ok()?))
        })
        .collect()
}

fn told(whose: &'static str, parts: &[Part], stacks: &[(String, u64)]) -> Vec<Row> {
    let mut bytes = vec![0; parts.len()];
    for (stack, count) in stacks {
        let part = parts
            .iter()
            .position(|(_, names)| names.iter().any(|name| stack.contains(name)));
        bytes[part.unwrap_or(parts.len() - 1)] += count;
    }
    let total: u64 = bytes.iter().sum();
    let row = |part: &str, bytes: u64| Row {
        id: "memory",
        what: format!("{whose}{part}").into(),
        ours: format!("{:.1} KiB", bytes as f64 / 1024.0),
        floor: format!("{:.1} KiB", total as f64 / 1024.0),
        ratio: bytes as f64 / total as f64,
        goal: Goal::Told,
        aim: Goal::Told,
    };
    parts
        .iter()
        .zip(bytes)
        .map(|((part, _), bytes)| row(part, bytes))
        .collect()
}
