//! Runs the real binary in a home of its own.

#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "a harness that cannot go on fails its test")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use cueme_tests::cueme;
use serde_json::Value;
use tempfile::TempDir;

/// What hosts set for their hooks.
const HOSTS_VARIABLES: [&str; 7] = [
    "CURSOR_VERSION",
    "CURSOR_PROJECT_DIR",
    "CURSOR_TRANSCRIPT_PATH",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "USER_PROMPT",
    "CUEME_SESSION",
];

/// A home with whatever the binary puts into it; its broker ends with it.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
}

/// What a call printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Ended {
    /// Makes sure that the call ended with `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Parses what was printed.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::Builder::new().prefix("cueme-test-").tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Prepares a call.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(cueme());
        command
            .args(words)
            .env("CUEME_HOME", self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        for variable in ["CUEME_WAIT", "CUEME_TURN", "CUEME_LOG"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a call to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        ended(&self.command(words).output().unwrap())
    }

    /// Runs a call to its end, with something on stdin.
    pub(crate) fn run_with(&self, words: &[&str], stdin: &str) -> Ended {
        self.start_with(words, stdin).finish()
    }

    /// Starts a hook as a host does, without what another host has left in the environment.
    pub(crate) fn start_hook(&self, host: &str, event: &str, input: &Value) -> Child {
        let mut command = self.command(&["hook", host, event]);
        for variable in HOSTS_VARIABLES {
            command.env_remove(variable);
        }
        start_piped(&mut command, &input.to_string())
    }

    /// Runs a client that speaks to `cueme mcp` by itself and ends with `ok` when all of it held.
    #[track_caller]
    pub(crate) fn run_mcp_client(&self, client: &mut Command) {
        let output = client
            .arg(cueme())
            .env("CUEME_HOME", self.path())
            .env("NO_COLOR", "1")
            .env_remove("CUEME_WAIT")
            .env_remove("CUEME_SESSION")
            .output()
            .unwrap();
        let Ended { stdout, stderr, code } = ended(&output);
        assert!(code == Some(0) && stdout.ends_with("ok\n"), "{stdout}\n{stderr}");
        println!("{stdout}");
    }

    /// Starts a call, with something on stdin.
    pub(crate) fn start_with(&self, words: &[&str], stdin: &str) -> Running {
        Running {
            child: Some(start_piped(&mut self.command(words), stdin)),
        }
    }

    /// Asks as an agent that may wait for so long, and returns how that ended.
    pub(crate) fn ask_for(&self, budget: &str, agent: &str, prompt: &str, payload: Option<&str>) -> Ended {
        let mut command = self.command(&["cue", agent, "-"]);
        command.env("CUEME_WAIT", budget);
        let child = start_piped(&mut command, &envelope(prompt, payload));
        ended(&child.wait_with_output().unwrap())
    }

    /// Joins as an agent and returns its id.
    pub(crate) fn join(&self) -> String {
        let joined = self.run(&["join", "terminal"]).expect(0).stdout;
        joined
            .lines()
            .find_map(|line| line.strip_prefix("agent_id="))
            .unwrap()
            .to_owned()
    }

    /// Asks as an agent and returns once a client waits for the answer, with the question's id.
    pub(crate) fn ask(&self, agent: &str, prompt: &str, payload: Option<&str>) -> (Running, String) {
        let running = self.start_with(&["cue", agent, "-"], &envelope(prompt, payload));
        (running, self.waited_for(prompt))
    }

    /// Waits until a client waits for the question with this prompt, and returns its id.
    pub(crate) fn waited_for(&self, prompt: &str) -> String {
        eventually(|| {
            let cue = self.open(prompt)?;
            (cue["waiting"].as_u64()? > 0).then(|| cue["cue_id"].as_str().unwrap().to_owned())
        })
    }

    /// Returns the open question with this prompt.
    pub(crate) fn open(&self, prompt: &str) -> Option<Value> {
        let inbox = self.run(&["inbox", "--json"]).expect(0).json();
        inbox
            .as_array()
            .unwrap()
            .iter()
            .find(|cue| cue["prompt"] == prompt)
            .cloned()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.command(&["broker", "stop"]).output();
    }
}

/// A call that is under way.
#[derive(Debug)]
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    /// Takes over a call that was started elsewhere.
    pub(crate) fn of(child: Child) -> Self {
        Self { child: Some(child) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Waits for the end of the call, but not for ever.
    pub(crate) fn finish(mut self) -> Ended {
        let child = self.child.take().unwrap();
        let call = rustix::process::Pid::from_child(&child);
        let (end, ends) = std::sync::mpsc::channel();
        std::thread::spawn(move || end.send(child.wait_with_output()));
        let Ok(output) = ends.recv_timeout(cueme_tests::PATIENCE) else {
            let _ = rustix::process::kill_process(call, rustix::process::Signal::KILL);
            panic!("the call did not end");
        };
        ended(&output.unwrap())
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Adds every file under a folder with its bytes.
pub(crate) fn collect(folder: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, tree);
        } else {
            tree.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// Writes an envelope.
pub(crate) fn envelope(prompt: &str, payload: Option<&str>) -> String {
    protocol_spec::envelope::render(prompt, payload).unwrap()
}

/// Waits until `look` finds something.
#[track_caller]
pub(crate) fn eventually<T>(look: impl FnMut() -> Option<T>) -> T {
    cueme_tests::eventually("what this test waits for", look)
}

/// Starts a command that reads this and whose output can be read.
pub(crate) fn start_piped(command: &mut Command, stdin: &str) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A call that refuses early may not read all of it.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child
}

fn ended(output: &Output) -> Ended {
    Ended {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}
