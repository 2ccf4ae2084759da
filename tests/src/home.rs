//! A home of its own: everything `cueme` keeps, in a directory that is gone at the end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use protocol_spec::message::{CueView, Nothing, Reply, Request, Status};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::binary::cueme;
use crate::client::{Client, Run};
use crate::process::{is_alive, is_broker, of_home, send_signal};
use cueme_test_kit::Wire;
use cueme_test_kit::eventually;

/// The variables that hosts set for their hooks.
const HOSTS_VARIABLES: [&str; 7] = [
    "CURSOR_VERSION",
    "CURSOR_PROJECT_DIR",
    "CURSOR_TRANSCRIPT_PATH",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "USER_PROMPT",
    "CUEME_SESSION",
];

/// A home. When it is dropped, its broker and every command in it end, and nothing is left behind.
#[derive(Debug)]
pub struct Home {
    directory: TempDir,
    path: PathBuf,
    binary: PathBuf,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// Makes a home that does not exist yet: the first command creates it.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("cueme-e2e-")
            .tempdir()
            .unwrap_or_else(|error| panic!("no temporary directory: {error}"));
        Self {
            path: directory.path().join("home"),
            directory,
            binary: cueme().to_owned(),
        }
    }

    /// Makes a home whose directory exists, for tests that put files into it.
    pub fn created() -> Self {
        let home = Self::new();
        fs::create_dir(&home.path).unwrap_or_else(|error| panic!("{error}"));
        home
    }

    /// Puts the home somewhere else, such as on another file system.
    #[must_use]
    pub fn at(mut self, path: PathBuf) -> Self {
        self.path = path;
        self
    }

    /// Returns where everything is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a directory beside the home, for files of the test.
    pub fn scratch(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the program this home is used with.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Copies the program to a file beside the home, and returns where that is.
    ///
    /// Another process does it: had this one the copy open for writing, every child forked at that moment would
    /// have it too, and a file that somebody writes cannot be run.
    #[track_caller]
    pub fn copy_of_binary(&self, name: &str) -> PathBuf {
        let copy = self.directory.path().join(name);
        let copied = Command::new("cp").arg(&self.binary).arg(&copy).status();
        assert!(copied.is_ok_and(|status| status.success()), "could not copy");
        copy
    }

    /// Copies the program to a place that every user can reach, and uses that one from now on.
    pub fn use_copy_of_binary(&mut self) -> &Path {
        let copy = self.copy_of_binary("cueme");
        fs::set_permissions(self.directory.path(), fs::Permissions::from_mode(0o755))
            .unwrap_or_else(|error| panic!("could not open the directory: {error}"));
        self.binary = copy;
        &self.binary
    }

    /// Returns the broker's socket.
    pub fn socket(&self) -> PathBuf {
        self.path.join("broker.sock")
    }

    /// Returns the database.
    pub fn database(&self) -> PathBuf {
        self.path.join("data/cueme.db")
    }

    /// Returns the broker's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path.join("logs/broker.log")).unwrap_or_default()
    }

    /// Writes the configuration.
    pub fn configure(&self, toml: &str) {
        fs::create_dir_all(&self.path).unwrap_or_else(|error| panic!("{error}"));
        fs::write(self.path.join("config.toml"), toml).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Returns a command in this home, with nothing of the tester's own settings.
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_of(&self.binary.clone(), words)
    }

    /// Returns a command of another program, such as a shell, in this home.
    pub fn command_of(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.directory.path())
            .env_remove("CUEME_WAIT")
            .env_remove("CUEME_URL")
            .env_remove("CUEME_TOKEN")
            .env_remove("CUEME_TURN")
            .env_remove("CUEME_LOG")
            .env_remove("NO_COLOR")
            .env("USER", "tester")
            .env("TZ", "UTC")
            .env("CUEME_BIN", &self.binary)
            .env("CUEME_HOME", &self.path);
        command
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> Run {
        self.run_with(words, "")
    }

    /// Runs a command to its end, with these bytes on stdin.
    #[track_caller]
    pub fn run_with(&self, words: &[&str], stdin: &(impl AsRef<[u8]> + ?Sized)) -> Run {
        self.start_with(words, stdin).finish()
    }

    /// Starts a command, with these bytes on stdin.
    #[track_caller]
    pub fn start_with(&self, words: &[&str], stdin: &(impl AsRef<[u8]> + ?Sized)) -> Client {
        Client::start(&mut self.command(words), stdin.as_ref())
    }

    /// Starts a hook as a host does, without the variables that another host has left in the environment.
    #[track_caller]
    pub fn start_hook(&self, host: &str, event: &str, input: &Value) -> Client {
        let mut command = self.command(&["hook", host, event]);
        for variable in HOSTS_VARIABLES {
            command.env_remove(variable);
        }
        Client::start(&mut command, input.to_string().as_bytes())
    }

    /// Runs a command that must succeed, and returns what it printed.
    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> String {
        self.run(words).expect(0).stdout
    }

    /// Runs a command that prints JSON.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        self.run(words).expect(0).json()
    }

    /// Joins as an agent of a runtime that sets no limit to a wait, and returns its id.
    #[track_caller]
    pub fn join(&self) -> String {
        self.join_as("patient")
    }

    /// Joins as an agent of a runtime, and returns its id.
    #[track_caller]
    pub fn join_as(&self, runtime: &str) -> String {
        let joined = self.ok(&["join", runtime]);
        let id = joined.lines().find_map(|line| line.strip_prefix("agent_id="));
        id.unwrap_or_else(|| panic!("no agent_id in {joined}")).to_owned()
    }

    /// Starts a question; it may not be asked yet when this returns.
    #[track_caller]
    pub fn start_cue(&self, agent: &str, prompt: &str, payload: Option<&str>) -> Client {
        let stdin = envelope(prompt, payload);
        Client::start(&mut self.command(&["cue", agent, "-"]), stdin.as_bytes())
    }

    /// Asks, and returns the waiting client and the question's id once somebody can answer it.
    #[track_caller]
    pub fn ask(&self, agent: &str, prompt: &str, payload: Option<&str>) -> (Client, String) {
        let client = self.start_cue(agent, prompt, payload);
        let cue = self.wait_for(prompt, 1);
        (client, cue)
    }

    /// Asks as an agent that may wait for so long, and returns how that ended.
    #[track_caller]
    pub fn ask_for(&self, budget: &str, agent: &str, prompt: &str, payload: Option<&str>) -> Run {
        let mut command = self.command(&["cue", agent, "-"]);
        command.env("CUEME_WAIT", budget);
        Client::start(&mut command, envelope(prompt, payload).as_bytes()).finish()
    }

    /// Asks, answers with these arguments, and returns what the agent's call printed.
    #[track_caller]
    pub fn ask_and_answer(&self, agent: &str, prompt: &str, payload: Option<&str>, answer: &[&str]) -> Run {
        let (client, cue) = self.ask(agent, prompt, payload);
        let words: Vec<&str> = ["answer", &cue]
            .into_iter()
            .chain(answer.iter().copied())
            .collect();
        self.ok(&words);
        client.finish()
    }

    /// Waits until a question with this prompt is open with so many clients, and returns its id.
    #[track_caller]
    pub fn wait_for(&self, prompt: &str, clients: u32) -> String {
        let what = format!("{clients} clients wait for {prompt:?}");
        eventually(&what, || {
            let cues = self.open_cues();
            let found = cues
                .iter()
                .find(|cue| cue.prompt == prompt && cue.waiting == clients);
            found.map(|cue| cue.cue_id.to_string())
        })
    }

    /// Returns the open questions, as the wire tells them; empty when no broker runs.
    pub fn open_cues(&self) -> Vec<CueView> {
        let mut cues = Vec::new();
        let Some(mut wire) = Wire::connect(&self.socket()) else {
            return cues;
        };
        wire.send(&Request::Inbox(Nothing {}));
        while let Some(Reply::Cue(cue)) = wire.hear() {
            cues.push(*cue);
        }
        cues
    }

    /// Returns the open questions, as `cueme inbox` tells them to a human.
    #[track_caller]
    pub fn inbox(&self) -> Vec<Value> {
        match self.json(&["inbox", "--json"]) {
            Value::Array(cues) => cues,
            other => panic!("not a list: {other}"),
        }
    }

    /// Returns the open question with this prompt.
    #[track_caller]
    pub fn open(&self, prompt: &str) -> Option<Value> {
        self.inbox().into_iter().find(|cue| cue["prompt"] == prompt)
    }

    /// Waits until nobody listens for the answer to the question with this prompt.
    #[track_caller]
    pub fn wait_until_unattended(&self, prompt: &str) {
        eventually(&format!("nobody waits for {prompt:?}"), || {
            (self.open(prompt)?["waiting"] == 0).then_some(())
        });
    }

    /// Waits for an open question that somebody waits for and that is meant.
    #[track_caller]
    pub fn wait_for_one(&self, is_meant: impl Fn(&Value) -> bool) -> Value {
        eventually("a question that a client waits for", || {
            let is_waited = |cue: &Value| cue["waiting"].as_u64() > Some(0);
            self.inbox()
                .into_iter()
                .find(|cue| is_waited(cue) && is_meant(cue))
        })
    }

    /// Returns one question, as `cueme show` tells it.
    #[track_caller]
    pub fn show(&self, cue: &str) -> Value {
        self.json(&["show", cue, "--json"])
    }

    /// Returns how far the outcome of a question has travelled.
    #[track_caller]
    pub fn delivery(&self, cue: &str) -> String {
        self.show(cue)["delivery"].as_str().unwrap_or_default().to_owned()
    }

    /// Connects to the running broker.
    #[track_caller]
    pub fn wire(&self) -> Wire {
        eventually("a broker that listens", || Wire::connect(&self.socket()))
    }

    /// Describes the running broker, without counting as a human.
    #[track_caller]
    pub fn status(&self) -> Status {
        match self.wire().call(&Request::Status(Nothing {})) {
            Some(Reply::Status(status)) => status,
            other => panic!("not a status: {other:?}"),
        }
    }

    /// Returns the running broker's process.
    #[track_caller]
    pub fn broker_pid(&self) -> u32 {
        self.status().pid
    }

    /// Returns every broker process of this home.
    pub fn brokers(&self) -> Vec<u32> {
        let mut brokers = of_home(&self.path);
        brokers.retain(|pid| is_broker(*pid));
        brokers
    }

    /// Kills the broker the hard way, and waits until it is gone.
    #[track_caller]
    pub fn kill_broker(&self) {
        self.kill_brokers(&[self.broker_pid()]);
    }

    /// Kills brokers that may not answer, and waits until they are gone.
    #[track_caller]
    pub fn kill_brokers(&self, brokers: &[u32]) {
        for pid in brokers {
            send_signal(*pid, Signal::KILL);
        }
        eventually("the end of a killed broker", || {
            (!brokers.iter().any(|pid| is_alive(*pid))).then_some(())
        });
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A waiting client may start one more broker while we look, so this is done until nobody is left.
        for _ in 0..100 {
            let left = of_home(&self.path);
            if left.is_empty() {
                break;
            }
            for pid in left {
                send_signal(pid, Signal::KILL);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Writes an envelope as an agent does.
pub fn envelope(prompt: &str, payload: Option<&str>) -> String {
    let payload = payload.map_or_else(String::new, |json| {
        format!("<cueme_payload>\n{json}\n</cueme_payload>\n")
    });
    format!("<cueme_prompt>\n{prompt}\n</cueme_prompt>\n{payload}")
}
