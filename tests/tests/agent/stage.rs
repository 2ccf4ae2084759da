//! Runs `cueme agent` with the double of Cursor's CLI, the real `cueme` and the real broker.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use cueme_tests::{Client, Home, Run, eventually};

/// The question of the double in scenarios that let it ask.
pub(crate) const QUESTION: &str = "Done?";

/// A home in which `agent` is the double and `cueme` the program under test.
pub(crate) struct Stage {
    pub(crate) home: Home,
    scenario: &'static str,
    variables: Vec<(&'static str, String)>,
}

impl Stage {
    pub(crate) fn new(scenario: &'static str) -> Self {
        let stage = Self {
            home: Home::created(),
            scenario,
            variables: Vec::new(),
        };
        fs::create_dir(stage.bin()).unwrap();
        symlink(env!("CARGO_BIN_EXE_fake-cursor-agent"), stage.bin().join("agent")).unwrap();
        symlink(cueme_tests::cueme(), stage.bin().join("cueme")).unwrap();
        fs::create_dir(stage.project()).unwrap();
        // The agent knows its id from its prompt; the double's command finds it with the broker.
        let cue = format!(
            "cueme cue \"$(cueme agents | cut -d' ' -f1 | head -n1)\" - <<'EOF'\n<cueme_prompt>\n{QUESTION}\n</cueme_prompt>\nEOF\n"
        );
        fs::write(stage.home.path().join("cue.sh"), cue).unwrap();
        stage
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.home.path().join("bin")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let path = format!("{}:{}", self.bin().display(), std::env::var("PATH").unwrap());
        let mut command = self.home.command(words);
        command
            .current_dir(self.project())
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("CURSOR_CONFIG_DIR", self.home.path().join(".cursor"))
            .env_remove("CURSOR_API_KEY")
            .env("FAKE_CURSOR_SCENARIO", self.scenario)
            .env("FAKE_CURSOR_HOME", self.home.path().join(".cursor"))
            .env("FAKE_CURSOR_LOG", self.home.path().join("log"))
            .env(
                "FAKE_CURSOR_CUE",
                format!("sh {}", self.home.path().join("cue.sh").display()),
            );
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Sets a variable for every command.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Plays another scenario from now on.
    pub(crate) fn turns_to(&mut self, scenario: &'static str) {
        self.scenario = scenario;
    }

    /// Writes `openclaw.json`, as an editor does that replaces the file.
    pub(crate) fn configure(&self, config: &Value) {
        self.configure_text(&config.to_string());
    }

    pub(crate) fn configure_text(&self, text: &str) {
        let (next, file) = (
            self.home.path().join("next.json"),
            self.home.path().join("openclaw.json"),
        );
        fs::write(&next, text).unwrap();
        fs::rename(next, file).unwrap();
    }

    /// Describes a model that is Cursor's CLI, with more arguments.
    pub(crate) fn cursor_model(more: &[&str]) -> Value {
        let mut args = vec!["-p", "--output-format", "stream-json", "--stream-partial-output"];
        args.extend(more);
        json!({"provider": "cursor-agent-cli", "command": "agent", "args": args, "promptAsArg": true})
    }

    /// Describes a model that is a custom CLI, which reads its turn from stdin.
    pub(crate) fn custom_model() -> Value {
        json!({"provider": "cursor-agent-cli", "command": "agent", "args": []})
    }

    /// Returns the log of the adapter.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("logs/agent.log")).unwrap_or_default()
    }

    pub(crate) fn start(&self, words: &[&str]) -> Client {
        Client::start(&mut self.command(words), b"")
    }

    pub(crate) fn run(&self, words: &[&str]) -> Run {
        self.start(words).finish()
    }

    /// Returns what the double recorded of its turns.
    pub(crate) fn turns(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
        // A line without its end is still being written.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Waits until the double has begun so many turns.
    #[track_caller]
    pub(crate) fn wait_for_turns(&self, count: usize) {
        eventually(&format!("turn {count} of the double"), || {
            (self.turns().len() == count).then_some(())
        });
    }

    /// Returns every question the broker ever got.
    pub(crate) fn questions(&self) -> Vec<Value> {
        let history = self.home.run(&["history", "--json"]).expect(0).json();
        history.as_array().unwrap().clone()
    }

    /// Returns how far the outcome of a question has travelled.
    pub(crate) fn delivery(&self, cue: &str) -> String {
        self.home.delivery(cue)
    }

    /// Waits for a question that somebody waits for, and answers it.
    pub(crate) fn answer(&self, words: &[&str]) -> Value {
        self.answer_one(words, |_| true)
    }

    /// Waits for a question of this origin, and answers it.
    pub(crate) fn answer_of(&self, origin: &str, words: &[&str]) -> Value {
        self.answer_one(words, |cue| cue["origin"] == origin)
    }

    fn answer_one(&self, words: &[&str], is_meant: impl Fn(&Value) -> bool) -> Value {
        let cue = self.home.wait_for_one(is_meant);
        let id = cue["cue_id"].as_str().unwrap();
        let words = [&words[..1], &[id], &words[1..]].concat();
        self.home.run(&words).expect(0);
        cue
    }

    /// Checks that no double is left, nor anything it started.
    pub(crate) fn nothing_is_left(&self) {
        for turn in self.turns() {
            let pid = i32::try_from(turn["pid"].as_i64().unwrap()).unwrap();
            let group = rustix::process::Pid::from_raw(pid).unwrap();
            eventually("the end of everything the double started", || {
                rustix::process::test_kill_process_group(group)
                    .is_err()
                    .then_some(())
            });
            assert!(
                !Path::new(&format!("/proc/{pid}")).exists(),
                "{pid} was not reaped"
            );
        }
    }
}

pub(crate) fn kinds(ended: &Run) -> Vec<String> {
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    ended
        .stdout
        .lines()
        .map(|line| event(line)["type"].as_str().unwrap().to_owned())
        .collect()
}

pub(crate) fn prompt_of(turn: &Value) -> &str {
    turn["prompt"].as_str().unwrap()
}

/// Returns the events of one type.
pub(crate) fn events(ended: &Run, kind: &str) -> Vec<Value> {
    let all = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| event["type"] == kind).collect()
}

/// Returns everything the agent said.
pub(crate) fn text(ended: &Run) -> String {
    let deltas = events(ended, "assistant_delta");
    deltas
        .iter()
        .map(|event| event["data"]["content"].as_str().unwrap())
        .collect()
}
