//! Lives of questions on a disk that takes five milliseconds longer, made by a library that both sides load before libc.
//!
//! A tracer such as `strace` can delay these calls too, but where it was tried hardly any requests reached the engine's
//! thread while it was held up, so that few shared a commit; held up like this, many do.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use protocol_spec::id::AgentId;

use super::bare::{self, socket_in};
use super::load::{Manner, lives_per_second};
use super::middle;
use crate::home::{CUEME, connect, stop_broker};

/// Set in the process that is the floor: how many agents, and how many connections.
pub(crate) const BARE_ENV: &str = "CUEME_BENCH_BARE";
/// The library's source.
const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/heart/throughput/slow_disk.c"
);
/// Set for the library: the file that grows by a byte with each wait.
const WAITS_ENV: &str = "CUEME_BENCH_WAITS";

/// The result of the measurement.
pub(super) struct Slow {
    pub(super) lives_per_second: f64,
    /// The average number of rows that one flush made durable.
    pub(super) rows_per_flush: f64,
}

impl Slow {
    pub(super) fn middle(all: &[Self]) -> Self {
        let middle_of = |figure: fn(&Self) -> f64| middle(all.iter().map(figure).collect());
        Self {
            lives_per_second: middle_of(|slow| slow.lives_per_second),
            rows_per_flush: middle_of(|slow| slow.rows_per_flush),
        }
    }
}

/// The rows of a life: three when it is asked, three when it is decided, two when that is acknowledged.
const ROWS_PER_LIFE: f64 = 8.0;

/// The library, as long as it is needed.
pub(super) struct SlowDisk {
    directory: tempfile::TempDir,
}

impl SlowDisk {
    /// Builds it; there is none where no C compiler is.
    pub(super) fn build() -> Option<Self> {
        let disk = Self {
            directory: tempfile::tempdir().expect("a directory"),
        };
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]);
        let built = compiler
            .arg(disk.library())
            .args([SOURCE, "-ldl"])
            .status()
            .ok()?;
        assert!(built.success(), "{SOURCE} does not compile");
        Some(disk)
    }

    fn library(&self) -> PathBuf {
        self.directory.path().join("slow_disk.so")
    }

    /// Prepares a program whose waits are longer and counted.
    fn command(&self, program: impl AsRef<OsStr>, waits: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", self.library()).env(WAITS_ENV, waits);
        command
    }
}

/// The broker.
pub(super) fn ours(disk: &SlowDisk, clients: usize, lives: usize) -> Slow {
    let home = tempfile::tempdir().expect("a directory");
    let log = home.path().join("waits");
    let mut command = disk.command(CUEME, &log);
    command
        .args(["broker", "run"])
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
pub(super) fn floor(disk: &SlowDisk, clients: usize, lives: usize) -> Slow {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("waits");
    let connections = Manner::Stay.connections(clients, lives);
    let mut command = disk.command(std::env::current_exe().expect("this program"), &log);
    command.arg("--bench").env(
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

fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a process");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output"))
        .read_line(&mut line)
        .expect("its first line");
    (child, line)
}

fn joined(socket: &Path, clients: usize) -> Vec<AgentId> {
    let mut wire = connect(socket);
    (0..clients).map(|_| wire.join("terminal", "/")).collect()
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
fn waits(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |log| log.len())
}
