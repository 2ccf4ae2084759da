//! The same lives on a disk that takes five milliseconds longer, made by `strace`: both sides are traced alike, and
//! stopped at nothing but the calls that wait for the disk.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use protocol_spec::id::AgentId;

use super::bare::{self, socket_in};
use super::load::{Manner, lives_per_second};
use crate::home::{CUEME, Wire, stop_broker};

/// Set in the process that is the floor: how many agents, and how many connections.
pub(crate) const BARE_ENV: &str = "CUEME_BENCH_BARE";
/// What is added to each wait, in microseconds.
const DELAY_MICROS: u32 = 5000;

/// What was measured.
pub(super) struct Slow {
    pub(super) lives_per_second: f64,
    /// How many rows each wait for the disk made durable.
    pub(super) rows_per_flush: f64,
}

/// The rows of a life: three when it is asked, three when it is decided, two when that is acknowledged.
const ROWS_PER_LIFE: f64 = 8.0;

/// Says whether calls can be slowed down here.
pub(super) fn is_possible() -> bool {
    let tried = slowed(Path::new("/dev/null")).arg("true").status();
    tried.is_ok_and(|status| status.success())
}

/// The broker.
pub(super) fn ours(clients: usize, lives: usize) -> Slow {
    let home = tempfile::tempdir().expect("a directory");
    let log = home.path().join("waits");
    let mut command = slowed(&log);
    command
        .args([CUEME, "broker", "run"])
        .env("CUEME_HOME", home.path())
        .env("CUEME_LOG", "error");
    let (mut broker, ready) = started(&mut command);
    assert!(ready.starts_with("ready"), "{ready}");
    let socket = home.path().join("broker.sock");
    let agents = joined(&socket, clients);
    let slow = measured(&socket, agents, lives, &log);
    stop_broker(home.path());
    broker.wait().expect("its end");
    slow
}

/// The bare loop.
pub(super) fn floor(clients: usize, lives: usize) -> Slow {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("waits");
    let connections = Manner::Stay.connections(clients, lives);
    let mut command = slowed(&log);
    command
        .arg(std::env::current_exe().expect("this program"))
        .arg("--bench")
        .env(
            BARE_ENV,
            format!("{clients} {connections} {}", directory.path().display()),
        );
    let (mut server, agents) = started(&mut command);
    let agents = agents
        .split_whitespace()
        .map(|agent| agent.parse().expect("an agent"))
        .collect();
    let slow = measured(&socket_in(directory.path()), agents, lives, &log);
    server.wait().expect("its end");
    slow
}

/// Is the floor, in a process of its own.
pub(crate) fn serve_bare(said: &str) {
    let mut words = said.splitn(3, ' ');
    let mut word = || words.next().expect("three words");
    let (clients, connections) = (
        word().parse().expect("a number"),
        word().parse().expect("a number"),
    );
    bare::serve(Path::new(word()), clients, connections);
}

fn slowed(log: &Path) -> Command {
    let mut command = Command::new("strace");
    command
        .args(["--follow-forks", "--seccomp-bpf", "--quiet=all", "--signal=none"])
        .args(["--trace=fsync,fdatasync", "--output"])
        .arg(log)
        .arg(format!("--inject=fsync,fdatasync:delay_exit={DELAY_MICROS}"));
    command
}

fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a process");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output"))
        .read_line(&mut line)
        .expect("its first line");
    (child, line)
}

fn joined(socket: &Path, clients: usize) -> Vec<AgentId> {
    let mut wire = Wire::connect(socket);
    (0..clients).map(|_| wire.join()).collect()
}

fn measured(socket: &Path, agents: Vec<AgentId>, lives: usize, log: &Path) -> Slow {
    let total = (agents.len() * lives) as f64;
    let before = waits(log);
    let lives_per_second = lives_per_second(socket, agents, lives, Manner::Stay);
    Slow {
        lives_per_second,
        rows_per_flush: total * ROWS_PER_LIFE / (waits(log) - before) as f64,
    }
}

/// Returns how often the disk was waited for until now.
fn waits(log: &Path) -> usize {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.lines().filter(|line| line.contains("sync(")).count()
}
