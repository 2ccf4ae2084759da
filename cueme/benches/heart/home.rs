//! A broker of its own for a measurement, and a client that speaks the wire.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    Ask, DeliveredOutcome, GiveAnswer, Join, Reply, Request, decode_reply, encode_request,
};
use protocol_spec::outcome::{Kind, Origin};
use uuid::Uuid;

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
        Wire::connect(&self.socket())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.broker.kill();
        let _ = self.broker.wait();
    }
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

/// One connection.
pub(crate) struct Wire {
    reader: BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Wire {
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("a connection");
        Self {
            reader: BufReader::with_capacity(1024, stream),
            line: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, request: &Request) {
        let line = encode_request(RequestId(Uuid::now_v7()), request).expect("a line");
        self.reader
            .get_mut()
            .write_all(&line)
            .expect("a broker that reads");
    }

    pub(crate) fn receive(&mut self) -> Reply {
        self.line.clear();
        self.reader
            .read_until(b'\n', &mut self.line)
            .expect("a broker that answers");
        decode_reply(self.line.trim_ascii_end()).expect("a reply").1
    }

    pub(crate) fn join(&mut self) -> AgentId {
        self.send(&Request::Join(Join {
            runtime: "terminal".parse().expect("a tag"),
            project_dir: "/".into(),
            terminal: "bash".into(),
            session: None,
        }));
        match self.receive() {
            Reply::Joined(joined) => joined.agent_id,
            other => panic!("{other:?}"),
        }
    }

    /// Asks, and returns when the question is on disk.
    pub(crate) fn ask(&mut self, agent: &AgentId, prompt: String) -> CueId {
        self.send(&Request::Ask(Ask {
            agent_id: agent.clone(),
            kind: Kind::Cue,
            prompt,
            payload: None,
            origin: Origin::Agent,
            nonce: None,
        }));
        match self.receive() {
            Reply::Asked(asked) => asked.cue_id,
            other => panic!("{other:?}"),
        }
    }

    /// Receives the outcome of a question that it waits for.
    pub(crate) fn outcome(&mut self) -> DeliveredOutcome {
        match self.receive() {
            Reply::Outcome(told) => told,
            other => panic!("{other:?}"),
        }
    }

    /// Answers, and returns when that is on disk.
    pub(crate) fn answer(&mut self, cue: CueId, text: &str) {
        let answer = protocol_spec::answer::Answer {
            text: Some(text.into()),
            ..Default::default()
        };
        self.send(&Request::Answer(GiveAnswer {
            cue: cue.to_string(),
            answer,
            by: None,
            hold_ms: 0,
        }));
        match self.receive() {
            Reply::Decided(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
