//! A broker of its own for a measurement.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cueme_test_kit::Wire;
use protocol_spec::id::AgentId;

/// The binary under measurement.
pub(crate) const CUEME: &str = env!("CARGO_BIN_EXE_cueme");

/// A broker with a data directory of its own.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    broker: Child,
}

impl Home {
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().expect("a temporary directory"))
    }

    /// Starts it on what is in a directory.
    pub(crate) fn start_in(directory: tempfile::TempDir) -> Self {
        let broker = Self::run(directory.path());
        Self { directory, broker }
    }

    /// Starts it with lines of configuration.
    pub(crate) fn start_with(configuration: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("config.toml"), configuration).expect("its configuration");
        Self::start_in(directory)
    }

    /// Starts another one in the place of one that has stopped.
    pub(crate) fn start_again(&mut self) {
        self.broker = Self::run(self.directory.path());
    }

    /// Lets the broker stop in an orderly way.
    pub(crate) fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.broker);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a broker");
        self.broker.wait().expect("its end");
    }

    fn run(home: &Path) -> Child {
        let mut broker = Command::new(CUEME)
            .args(["broker", "run"])
            .env("CUEME_HOME", home)
            .env("CUEME_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a broker");
        let mut ready = String::new();
        let stdout = broker.stdout.take().expect("its output");
        BufReader::new(stdout)
            .read_line(&mut ready)
            .expect("its ready line");
        assert!(ready.starts_with("ready"), "{ready}");
        broker
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.broker.id()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(CUEME);
        command.env("CUEME_HOME", self.path());
        command
    }

    /// Starts a client that asks and waits.
    pub(crate) fn start_cue(&self, agent: &AgentId, prompt: &str) -> Child {
        let mut command = self.command();
        command.args(["cue", agent.as_str(), "-"]).stdout(Stdio::null());
        give_prompt(&mut command, prompt)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path().join("broker.sock")
    }

    pub(crate) fn connect(&self) -> Wire {
        connect(&self.socket())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.broker.kill();
        let _ = self.broker.wait();
    }
}

/// Connects to a broker that runs.
pub(crate) fn connect(socket: &Path) -> Wire {
    Wire::connect(socket).expect("a connection")
}

/// Starts a client that reads its question from the standard input.
pub(crate) fn give_prompt(command: &mut Command, prompt: &str) -> Child {
    let mut client = command.stdin(Stdio::piped()).spawn().expect("a client");
    let mut stdin = client.stdin.take().expect("its input");
    write!(stdin, "<cueme_prompt>\n{prompt}\n</cueme_prompt>\n").expect("a question");
    client
}

/// Stops the broker of a directory, regardless of who started it.
pub(crate) fn stop_broker(home: &Path) {
    let stopped = Command::new(CUEME)
        .args(["broker", "stop"])
        .env("CUEME_HOME", home)
        .stdout(Stdio::null())
        .status();
    assert!(stopped.is_ok_and(|status| status.success()));
}

/// Makes a directory for a broker that has not been started, and says where its database will be.
pub(crate) fn empty_home() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    std::fs::create_dir(&data).expect("a directory");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).expect("a private directory");
    (directory, data.join("cueme.db"))
}
