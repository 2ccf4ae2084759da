//! The course of runs.

use std::time::{Duration, Instant};

use cueme_tests::cloud_fake::{Reply, Script, Webhooks};
use cueme_tests::eventually;
use rustix::process::Signal;
use serde_json::Value;

use super::cloud::{Cloud, WEBHOOK_SECRET, events, kinds};

/// Longer than any test: a run that ends before it was woken.
const NEVER: u64 = 600;

fn slow_end() -> Script {
    Script::timeline(&[(0, "CREATING"), (50, "RUNNING"), (1_500, "FINISHED")])
}

fn with_webhooks(script: Script, webhooks: Webhooks) -> Script {
    Script { webhooks, ..script }
}

#[test]
fn launch_then_webhook_then_finished() {
    let cloud = Cloud::start(slow_end(), NEVER);
    let result = cloud.home.scratch().join("result.json");
    let run = cloud.run(&[
        "launch",
        "fix it",
        "--no-hap",
        "--result",
        result.to_str().unwrap(),
    ]);
    let stdout = run.printed(0);
    let kinds = kinds(stdout);
    assert_eq!(
        (kinds.first().unwrap().as_str(), kinds.last().unwrap().as_str()),
        ("init", "result")
    );
    let last = events(stdout).pop().unwrap();
    assert_eq!(
        (&last["status"], &last["isError"]),
        (&"FINISHED".into(), &false.into())
    );
    assert_eq!(last["prUrl"], "https://github.com/acme/site/pull/1");
    let launched = &cloud.fake.bodies("POST", "/v0/agents")[0];
    assert_eq!(
        launched["webhook"]["url"],
        format!("{}/api/adapters/cursor-cloud/webhooks", cloud.public)
    );
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 1);
    assert_eq!(
        cloud.number("SELECT count(*) FROM run_events WHERE what = 'webhook'"),
        1
    );
    let runs = cloud.runs();
    assert_eq!(
        (&runs[0]["status"], &runs[0]["end"]),
        (&"FINISHED".into(), &"succeeded".into())
    );
    assert_eq!(runs[0]["branch"], "cursor/fake-branch");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(result).unwrap()).unwrap();
    assert_eq!(
        (&result["exitCode"], &result["provider"]),
        (&0.into(), &"cursor".into())
    );
    assert_eq!(result["sessionParams"]["agentId"], cloud.launched());
    assert!(result["usage"].is_null() && result["costUsd"].is_null());
    assert_eq!(result["resultJson"]["status"], "FINISHED");
}

#[test]
fn lost_webhook_falls_back_to_polling() {
    let cloud = Cloud::start(with_webhooks(slow_end(), Webhooks::Lost), 1);
    cloud.run(&["launch", "fix it", "--no-hap"]).printed(0);
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 0);
}

#[test]
fn a_duplicated_webhook_is_kept_once() {
    let cloud = Cloud::start(with_webhooks(slow_end(), Webhooks::Duplicated), NEVER);
    cloud.run(&["launch", "fix it", "--no-hap"]).printed(0);
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 1);
    assert_eq!(
        cloud.number("SELECT count(*) FROM run_events WHERE what = 'webhook'"),
        1
    );
}

#[test]
fn a_forged_webhook_wakes_nobody() {
    let cloud = Cloud::start(with_webhooks(slow_end(), Webhooks::Forged), 2);
    cloud.run(&["launch", "fix it", "--no-hap"]).printed(0);
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 0);
}

#[test]
fn an_unknown_status_is_a_failure_and_is_kept_as_it_was() {
    let cloud = Cloud::start(Script::timeline(&[(0, "RUNNING"), (200, "HIBERNATED")]), 1);
    let run = cloud.run(&["launch", "fix it", "--no-hap"]);
    let last = events(run.printed(1)).pop().unwrap();
    assert_eq!(last["status"], "HIBERNATED");
    assert_eq!(cloud.runs()[0]["end"], "failed");
}

#[test]
fn timeout_stops_the_agent() {
    let cloud = Cloud::start(Script::endless(), 1);
    let result = cloud.home.scratch().join("result.json");
    let words = [
        "launch",
        "x",
        "--no-hap",
        "--timeout",
        "2",
        "--result",
        result.to_str().unwrap(),
    ];
    let run = cloud.run(&words);
    let last = events(run.printed(1)).pop().unwrap();
    assert!(
        last["errorMessage"].as_str().unwrap().contains("took longer"),
        "{last}"
    );
    assert_eq!(cloud.fake.count("POST", "/stop"), 1);
    let result: Value = serde_json::from_str(&std::fs::read_to_string(result).unwrap()).unwrap();
    assert_eq!(
        (&result["timedOut"], &result["exitCode"]),
        (&true.into(), &1.into())
    );
}

#[test]
fn cancel_aborts_the_wait_and_stops_the_agent() {
    let cloud = Cloud::start(Script::endless(), NEVER);
    let client = cloud.begin(&["launch", "x", "--no-hap"]);
    eventually("a run that goes on", || {
        client.stdout().contains("RUNNING").then_some(())
    });
    let begun = Instant::now();
    client.signal(Signal::INT);
    let run = client.finish();
    assert_eq!(kinds(run.printed(130)).last().unwrap(), "result");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "it did not wait for the next look"
    );
    assert_eq!(cloud.fake.count("POST", "/stop"), 1);
    assert_eq!(cloud.runs()[0]["end"], "cancelled");
}

#[test]
fn a_follow_up_continues_the_same_conversation() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.run(&["launch", "first", "--no-hap"]).printed(0);
    let agent = cloud.launched();
    let run = cloud.run(&["follow-up", &agent[..agent.len() - 2], "second", "--no-hap"]);
    let first = events(run.printed(0)).remove(0);
    assert_eq!(
        (&first["agentId"], &first["resumed"]),
        (&agent.clone().into(), &true.into())
    );
    assert_eq!(cloud.fake.agents(), [agent]);
    assert_eq!(cloud.fake.count("POST", "/followup"), 1);
}

#[test]
fn a_follow_up_to_an_agent_that_does_not_exist_starts_no_other() {
    let cloud = Cloud::start(Script::default(), 1);
    let refused = cloud.run(&["follow-up", "bc-unknown", "second", "--no-hap"]);
    refused.printed(1);
    assert!(
        refused.stderr.contains("no agent \"bc-unknown\""),
        "{}",
        refused.stderr
    );
    assert!(cloud.fake.agents().is_empty());
    assert_eq!(cloud.fake.count("POST", ""), 0);
}

#[test]
fn a_follow_up_that_cannot_tell_whether_its_agent_exists_starts_no_other() {
    // As often as a read is tried: the next one says that there is no such agent.
    let outage = Script::default().fail("GET", "/v0/agents/", 5, Reply::status(503, "unavailable"));
    for script in [
        outage,
        Script::default().fail("GET", "/v0/agents/", 1, Reply::page(404)),
    ] {
        let cloud = Cloud::start(script, 1);
        cloud
            .run(&["follow-up", "bc-unknown", "second", "--no-hap"])
            .printed(1);
        assert_eq!(cloud.fake.count("POST", ""), 0);
    }
}

#[test]
fn a_follow_up_on_another_repository_starts_a_new_agent_only_where_that_is_allowed() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.run(&["launch", "first", "--no-hap"]).printed(0);
    let agent = cloud.launched();
    let words = [
        "follow-up",
        &agent,
        "second",
        "--no-hap",
        "--repository",
        "https://github.com/acme/other",
    ];
    let refused = cloud.run(&words);
    refused.refused(2, &["works on https://github.com/acme/site", "--new-agent"]);
    assert_eq!(cloud.fake.agents().len(), 1);
    cloud.run(&[&words[..], &["--new-agent"]].concat()).expect(0);
    assert_eq!(cloud.fake.agents().len(), 2);
    assert_eq!(cloud.fake.count("POST", "/followup"), 0);
}

#[test]
fn a_broker_that_is_restarted_in_the_middle_still_wakes_the_run_and_remembers_what_it_received() {
    let script = Script::timeline(&[(0, "RUNNING"), (6_000, "FINISHED")]);
    let cloud = Cloud::start(script, NEVER);
    let client = cloud.begin(&["launch", "x", "--no-hap"]);
    eventually("a run that goes on", || {
        client.stdout().contains("RUNNING").then_some(())
    });
    eventually("a run that is reported", || {
        cloud
            .runs()
            .first()
            .filter(|run| run["session"].is_string())
            .map(|_| ())
    });
    cloud.home.kill_broker();
    client.finish().printed(0);
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 1);
    assert_eq!(cloud.runs()[0]["end"], "succeeded");
    cloud.home.kill_broker();
    cloud.home.ok(&["agents"]);
    // The new broker has no secret of its own until somebody drives a run again.
    let again = cloud.begin(&["launch", "y", "--no-hap"]);
    eventually("a run that goes on", || {
        again.stdout().contains("RUNNING").then_some(())
    });
    let delivery = cloud.delivery_of_first_run();
    let first = cloud.deliver(&delivery, WEBHOOK_SECRET);
    assert_eq!(
        first, 204,
        "a delivery that came before is answered as the first time"
    );
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 1);
    again.signal(Signal::INT);
    again.finish().printed(130);
}

#[test]
fn a_run_that_was_left_is_found_again_and_leaving_it_does_not_end_it() {
    let script = Script::timeline(&[(0, "RUNNING"), (7_000, "FINISHED")]);
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "x", "--no-hap"]);
    let agent = cloud.launched();
    eventually("a run that is reported", || {
        cloud
            .runs()
            .first()
            .filter(|run| run["session"].is_string())
            .map(|_| ())
    });
    client.kill();
    let left = eventually("a run that nobody drives", || {
        cloud.runs().pop().filter(|run| run["followed"] == false)
    });
    assert!(left["end"].is_null(), "{left}");
    let watching = cloud.begin(&["watch", &agent, "--no-hap"]);
    eventually("an event", || watching.stdout().contains("init").then_some(()));
    watching.signal(Signal::INT);
    watching.finish().printed(130);
    assert_eq!(cloud.fake.count("POST", "/stop"), 0);
    cloud.run(&["watch", &agent, "--no-hap"]).printed(0);
    let runs = cloud.runs();
    assert_eq!(
        (runs.len(), &runs[0]["end"]),
        (1, &"succeeded".into()),
        "it is the same run"
    );
}

#[test]
fn the_second_generation_is_followed_by_its_events() {
    let cloud = Cloud::start(Script::default(), 1);
    let run = cloud.run(&["launch", "x", "--no-hap", "--api", "v1"]);
    let stdout = run.printed(0);
    for kind in ["init", "status", "user", "tool", "assistant", "result"] {
        assert!(
            kinds(stdout).iter().any(|each| each == kind),
            "{kind} in {stdout}"
        );
    }
    assert_eq!(cloud.fake.count("GET", "/stream"), 1);
}
