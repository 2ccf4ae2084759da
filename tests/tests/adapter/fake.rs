//! Runs the double of the CLI under the real adapter.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part of this module"
)]

use cueme_tests::eventually_async;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use adapter_core::contract::{Item, Message, ToolSpec, Turn, TurnReport};
use adapter_core::cursor::cli::{CliSpec, TurnRequest, run_turn};
use adapter_core::process::{Cancelled, Graces};
use serde_json::Value;
use tempfile::TempDir;

/// Short enough for tests, long enough for a busy machine.
pub const GRACES: Graces = Graces {
    leave: Duration::from_millis(700),
    drain: Duration::from_millis(300),
    cancel: Duration::from_millis(700),
    terminate: Duration::from_millis(500),
};

/// One double with a home of its own.
pub struct Fake {
    pub home: TempDir,
    pub spec: CliSpec,
    pub env: BTreeMap<String, String>,
    pub prompt: String,
}

/// The result of a turn.
pub struct Played {
    pub events: Vec<Value>,
    pub report: TurnReport,
    pub took: Duration,
}

impl Fake {
    pub fn new(scenario: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut env = BTreeMap::new();
        env.insert("FAKE_CURSOR_SCENARIO".into(), scenario.into());
        env.insert("FAKE_CURSOR_HOME".into(), home.path().display().to_string());
        env.insert(
            "FAKE_CURSOR_LOG".into(),
            home.path().join("log").display().to_string(),
        );
        let spec = CliSpec {
            command: env!("CARGO_BIN_EXE_fake-cursor-agent").into(),
            deadline: Duration::from_secs(30),
            ..CliSpec::default()
        };
        Self {
            home,
            spec,
            env,
            prompt: "hello".into(),
        }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    pub fn not_partial(mut self) -> Self {
        self.spec.args.retain(|arg| arg != "--stream-partial-output");
        self
    }

    pub fn deadline(mut self, millis: u64) -> Self {
        self.spec.deadline = Duration::from_millis(millis);
        self
    }

    pub fn request(&self) -> TurnRequest {
        let schema = serde_json::json!({"type": "object"});
        let tools = vec![ToolSpec {
            name: "exec".into(),
            schema,
        }];
        let turn = Turn {
            turn_id: "t-1".into(),
            messages: vec![Message::user(&self.prompt)],
            tools,
        };
        TurnRequest {
            turn,
            resume: None,
            cwd: Some(self.home.path().to_owned()),
            env: self.env.clone(),
            human_time: None,
        }
    }

    pub async fn play(&self) -> Played {
        self.play_until(Cancelled::never()).await
    }

    pub async fn play_until(&self, cancelled: Cancelled) -> Played {
        self.play_both(&self.request(), cancelled).await
    }

    /// Plays a turn that was prepared.
    pub async fn play_request(&self, request: &TurnRequest) -> Played {
        self.play_both(request, Cancelled::never()).await
    }

    async fn play_both(&self, request: &TurnRequest, cancelled: Cancelled) -> Played {
        let mut events = Vec::new();
        let mut options = self.spec.normaliser();
        options.activity = true;
        options.registered = ["exec".to_owned()].into();
        let start = Instant::now();
        let mut sink = |item: Item<'_>| match item {
            Item::Event(event) => events.push(serde_json::to_value(event).unwrap()),
            Item::Activity(activity) => events.push(serde_json::to_value(activity).unwrap()),
            Item::Note(_) => {}
        };
        let report = run_turn(&self.spec, request, options, GRACES, cancelled, &mut sink).await;
        let took = start.elapsed();
        self.nothing_is_left().await;
        Played { events, report, took }
    }

    /// Returns what the double recorded of its calls.
    pub fn calls(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    pub fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    /// Checks that every double was reaped and its process group is gone.
    pub async fn nothing_is_left(&self) {
        for call in self.calls() {
            let Some(pid) = call["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()) else {
                continue;
            };
            let group = rustix::process::Pid::from_raw(pid).unwrap();
            // A killed grandchild is reaped by init, and a dropped child by the runtime, each when it comes to it.
            let is_gone = || {
                let has_group = rustix::process::test_kill_process_group(group).is_ok();
                !has_group && !PathBuf::from(format!("/proc/{pid}")).exists()
            };
            let what = format!("the end of process group {pid}, reaped");
            eventually_async(&what, || is_gone().then_some(())).await;
        }
    }
}

impl Played {
    pub fn text(&self) -> String {
        let deltas = self
            .events
            .iter()
            .filter(|event| event["type"] == "assistant_delta");
        deltas
            .map(|event| event["data"]["content"].as_str().unwrap())
            .collect()
    }

    pub fn last(&self) -> &Value {
        self.events.last().expect("an event")
    }

    pub fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event["type"] == kind).count()
    }

    #[track_caller]
    pub fn assert_done(&self) -> &Self {
        assert_eq!(
            self.last()["type"],
            "done",
            "{:?} {}",
            self.events,
            self.report.stderr
        );
        assert_eq!((self.count("done"), self.count("error")), (1, 0));
        self
    }

    #[track_caller]
    pub fn assert_error(&self, code: &str) -> &Self {
        assert_eq!(self.last()["data"]["code"], code, "{:?}", self.last());
        assert_eq!((self.count("done"), self.count("error")), (0, 1));
        self
    }
}
