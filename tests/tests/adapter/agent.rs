//! A configured agent: profiles, fallback models and tools.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use adapter_core::config::Config;
use adapter_core::cursor::cli::CliAgent;
use adapter_core::guard::Registry;
use adapter_core::tools::{Approval, Approver, Exec};
use serde_json::{Value, json};

use crate::fake::{Fake, GRACES};
use adapter_core::contract::{Ending, Item, Note};

struct Policy(Approval);

impl Approver for Policy {
    fn approve<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        Box::pin(async { self.0.clone() })
    }
}

struct Ran {
    events: Vec<Value>,
    decisions: Vec<String>,
    ending: Ending,
}

async fn run(fake: &Fake, config: Value, tools: Registry) -> Ran {
    let config = Config::parse(&config.to_string()).unwrap();
    let mut agent = CliAgent::new(Arc::new(config), "m");
    agent.cwd = Some(fake.home.path().to_owned());
    agent.env = fake.env.clone();
    agent.graces = GRACES;
    agent.tools = tools;
    let (mut events, mut decisions) = (Vec::new(), Vec::new());
    let mut sink = |item: Item<'_>| match item {
        Item::Event(event) => events.push(serde_json::to_value(event).unwrap()),
        Item::Note(Note::Recovery(decision)) => decisions.push(decision.to_string()),
        _ => {}
    };
    let report = agent.turn("hello", None, &BTreeMap::new(), &mut sink).await;
    fake.nothing_is_left().await;
    Ran {
        events,
        decisions,
        ending: report.ending,
    }
}

fn model(args: &[&str]) -> Value {
    let mut all = vec!["-p", "--output-format", "stream-json"];
    all.extend(args);
    json!({"command": env!("CARGO_BIN_EXE_fake-cursor-agent"), "args": all, "promptAsArg": true})
}

#[tokio::test]
async fn a_refused_login_rotates_to_the_next_profile_and_says_so() {
    let mut config =
        json!({"models": {"m": model(&[])}, "authProfiles": {"work": {"apiKeyEnv": "ADAPTER_TEST_WORK"}}});
    config["models"]["m"]["authProfiles"] = json!(["default", "work"]);
    let fake = Fake::new("profiles").env("ADAPTER_TEST_WORK", "good-profile-key");
    let ran = run(&fake, config, Registry::default()).await;
    assert!(
        ran.decisions[0].contains("MODEL_AUTH_ERROR") && ran.decisions[0].contains("trying profile work")
    );
    assert_eq!(fake.calls().len(), 2);
    assert_eq!(fake.calls()[1]["env"]["CURSOR_API_KEY"], "good-profile-key");
    assert!(matches!(ran.ending, Ending::Done(_)));
    let ends = ran
        .events
        .iter()
        .filter(|event| matches!(event["type"].as_str(), Some("done" | "error")));
    assert_eq!(ends.count(), 1, "one terminal event, not one per attempt");
}

#[tokio::test]
async fn a_refused_model_falls_back_to_the_next_and_says_so() {
    let mut config =
        json!({"models": {"m": model(&["--model", "nope"]), "other": model(&["--model", "auto"])}});
    config["models"]["m"]["fallbackModels"] = json!(["other"]);
    let fake = Fake::new("simple");
    let ran = run(&fake, config, Registry::default()).await;
    assert!(matches!(ran.ending, Ending::Done(_)));
    assert_eq!(
        ran.decisions,
        ["MODEL_NOT_FOUND: model m failed, falling back to model other"]
    );
    assert_eq!(
        ran.events.iter().filter(|event| event["type"] == "done").count(),
        1
    );
}

#[tokio::test]
async fn an_exhausted_quota_is_reported_and_never_changes_the_model() {
    let mut config = json!({"models": {"m": model(&[]), "other": model(&[])}});
    config["models"]["m"]["fallbackModels"] = json!(["other"]);
    let fake = Fake::new("quota");
    let ran = run(&fake, config, Registry::default()).await;
    assert_eq!(ran.decisions, ["QUOTA_EXCEEDED: nothing else to try"]);
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn an_unknown_model_is_a_configuration_error() {
    let ran = run(&Fake::new("simple"), json!({"models": {}}), Registry::default()).await;
    assert_eq!(ran.events[0]["data"]["code"], "CONFIG_ERROR");
}

#[tokio::test]
async fn the_result_of_a_tool_goes_into_the_next_turn() {
    for (approval, told) in [
        (Approval::Approved, "exit 0"),
        (Approval::Refused("the human said no".into()), "refused"),
    ] {
        let mut tools = Registry::default();
        tools.register(Arc::new(Exec::new(Arc::new(Policy(approval)), None)));
        let config =
            json!({"models": {"m": {"command": env!("CARGO_BIN_EXE_fake-cursor-agent"), "args": []}}});
        let ran = run(&Fake::new("custom"), config, tools).await;
        let kinds: Vec<_> = ran
            .events
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["tool_call", "usage", "assistant_delta", "usage", "done"]);
        assert!(
            ran.events[2]["data"]["content"].as_str().unwrap().contains(told),
            "{:?}",
            ran.events[2]
        );
    }
}
