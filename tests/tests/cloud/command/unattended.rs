//! Runs whose driver is gone, and what is said about them.

use cueme_tests::cloud_fake::{Reply, Script};
use cueme_tests::{Client, eventually};
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::Value;

use super::cloud::{Cloud, WEBHOOK_SECRET, events};

/// Starts a run and waits until the broker knows its agent.
pub(super) fn launched(cloud: &Cloud, words: &[&str]) -> Client {
    let client = cloud.begin(&[&["launch", "fix it"], words].concat());
    reported(cloud, |run| run["session"].is_string());
    client
}

/// Waits for a state of the newest run, and returns it.
pub(super) fn reported(cloud: &Cloud, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually("a run in another state", || {
        cloud.runs().into_iter().next().filter(&is_so)
    })
}

/// Waits until one question is open and somebody waits for its answer.
pub(super) fn only_question(cloud: &Cloud, words: &str) -> String {
    let cue = cloud.question(words);
    eventually("one question, and one who waits", || {
        let open = cloud.home.open_cues();
        (open.len() == 1 && open[0].waiting == 1).then_some(())
    });
    cue
}

#[test]
fn a_run_whose_driver_died_is_unattended_and_keeps_its_token_and_its_webhooks() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = launched(&cloud, &[]);
    let callback = cloud.callback(1);
    client.kill();
    let left = reported(&cloud, |run| run["status"] == "UNATTENDED");
    assert!(left["end"].is_null() && left["followed"] == false, "{left}");
    let agent = cloud.launched();
    let error = left["error"].as_str().unwrap();
    assert!(error.contains(&format!("cueme cloud watch {agent}")), "{error}");
    assert_eq!(cloud.exchange(&callback).0, StatusCode::OK);
    let webhook = serde_json::json!({"event": "statusChange", "id": agent, "status": "FINISHED"});
    let delivered = cloud.deliver(&("delivery-1".into(), webhook.to_string()), WEBHOOK_SECRET);
    assert_eq!(delivered, 204);
    assert_eq!(
        cloud.number("SELECT count(*) FROM run_events WHERE what = 'webhook'"),
        1
    );
    assert_eq!(cloud.fake.count("POST", "/stop"), 0);
}

#[test]
fn the_broker_takes_over_a_run_whose_driver_died_with_the_question_that_is_open() {
    let script = Script {
        answers: vec!["I fixed it.".into(), "I wrote the docs.".into()],
        ..Script::default()
    };
    let cloud = Cloud::start(script, 1);
    cloud.configure_whole();
    let client = launched(&cloud, &[]);
    let first = only_question(&cloud, "I fixed it.");
    client.kill();
    reported(&cloud, |run| run["followed"] == false);
    reported(&cloud, |run| run["followed"] == true);
    assert_eq!(
        only_question(&cloud, "I fixed it."),
        first,
        "the human is not asked twice"
    );
    cloud.home.ok(&["answer", &first, "now the docs"]);
    let second = only_question(&cloud, "I wrote the docs.");
    assert_eq!(cloud.fake.count("POST", "/followup"), 1);
    cloud.home.ok(&["answer", &second, "--done"]);
    let over = reported(&cloud, |run| run["end"].is_string());
    assert_eq!((&over["end"], cloud.runs().len()), (&"succeeded".into(), 1));
}

#[test]
fn a_run_that_a_broker_finds_at_its_start_is_taken_over() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.configure_whole();
    let client = launched(&cloud, &[]);
    only_question(&cloud, "All done.");
    client.kill();
    cloud.home.kill_broker();
    cloud.home.ok(&["agents"]);
    reported(&cloud, |run| run["followed"] == true);
    let cue = only_question(&cloud, "All done.");
    cloud.home.ok(&["answer", &cue, "--done"]);
    reported(&cloud, |run| run["end"] == "succeeded");
}

#[test]
fn a_key_that_is_refused_in_the_middle_leaves_the_run_open() {
    let script = Script::endless();
    let cloud = Cloud::start(script.clone(), 1);
    let client = launched(&cloud, &["--no-hap"]);
    eventually("a run that goes on", || {
        client.stdout().contains("RUNNING").then_some(())
    });
    cloud
        .fake
        .set_script(script.fail("GET", "/v0/agents", 100, Reply::status(401, "unauthorized")));
    let ended = client.finish();
    ended.printed(1);
    assert!(ended.stderr.contains("cueme cloud watch"), "{}", ended.stderr);
    let left = reported(&cloud, |run| run["status"] == "UNATTENDED");
    assert!(left["end"].is_null(), "{left}");
}

#[test]
fn a_run_whose_agent_does_not_exist_any_more_ends_when_a_human_stops_it() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = launched(&cloud, &["--no-hap"]);
    client.kill();
    reported(&cloud, |run| run["status"] == "UNATTENDED");
    let agent = cloud.launched();
    cloud.fake.delete_agent(&agent);
    cloud.run(&["stop", &agent]).refused(1, &["404"]);
    let over = reported(&cloud, |run| run["end"].is_string());
    assert_eq!(
        (&over["end"], &over["status"]),
        (&"failed".into(), &"GONE".into())
    );
}

#[test]
fn a_launch_and_a_follow_up_whose_answers_were_lost_are_found_again() {
    let lost = Script::default().fail("POST", "/v0/agents", 1, Reply::Drop).fail(
        "POST",
        "/followup",
        1,
        Reply::Garbage,
    );
    let cloud = Cloud::start(lost, 1);
    let client = launched(&cloud, &[]);
    let cue = only_question(&cloud, "All done.");
    assert_eq!(cloud.fake.agents().len(), 1);
    cloud
        .fake
        .set_script(Script::default().fail("POST", "/followup", 1, Reply::Drop));
    cloud.home.ok(&["answer", &cue, "now the docs"]);
    eventually("the word arrives", || {
        (cloud.fake.count("POST", "/followup") == 1).then_some(())
    });
    let next = eventually("another question", || {
        let open = cloud.home.open_cues();
        let next = open.into_iter().find(|open| open.cue_id.to_string() != cue);
        next.map(|open| open.cue_id.to_string())
    });
    assert_eq!(cloud.home.delivery(&cue), "acknowledged");
    cloud.home.ok(&["answer", &next, "--done"]);
    client.finish().printed(0);
    assert_eq!(cloud.fake.count("POST", "/followup"), 1);
}

#[test]
fn questions_of_a_run_that_is_over_are_closed_and_say_so() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = launched(&cloud, &[]);
    let callback = cloud.callback(1);
    let (_, exchanged) = cloud.exchange(&callback);
    let ask = serde_json::json!({
        "id": uuid::Uuid::now_v7(), "agent_id": callback.agent_id, "prompt": "Which one?", "wait_ms": 1,
    });
    let token = exchanged["token"].as_str().unwrap();
    let path = "/api/v1/hap/cue";
    cloud.send_as(token, &callback.run_id, reqwest::Method::POST, path, Some(&ask));
    let cue = cloud.question("Which one?");
    client.signal(Signal::INT);
    client.finish().printed(130);
    eventually("no open question", || {
        cloud.home.open_cues().is_empty().then_some(())
    });
    let shown = cloud.home.show(&cue);
    assert_eq!(shown["outcome"], "cancelled");
    assert!(
        shown["text"].as_str().unwrap().contains("the run is over"),
        "{shown}"
    );
}

#[test]
fn the_body_of_an_error_is_in_the_result_and_among_the_events_of_the_run() {
    let body = serde_json::json!({"error": {
        "code": "repository_not_found", "message": "no such repository", "traceId": "trace-4711",
        "details": {"repository": "acme/site"},
    }});
    let reply = Reply::Body { status: 422, body };
    let cloud = Cloud::start(Script::default().fail("POST", "/v0/agents", 1, reply), 1);
    let result = cloud.home.scratch().join("result.json");
    let run = cloud.run(&["launch", "x", "--no-hap", "--result", result.to_str().unwrap()]);
    let last = events(run.printed(1)).pop().unwrap();
    let message = last["errorMessage"].as_str().unwrap();
    for part in ["no such repository", "trace-4711", "acme/site"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert_eq!(last["error"]["body"]["error"]["traceId"], "trace-4711");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(result).unwrap()).unwrap();
    assert_eq!(result["resultJson"]["error"]["traceId"], "trace-4711");
    let logged = "SELECT count(*) FROM run_events WHERE what = 'error' AND text LIKE '%trace-4711%'";
    assert_eq!(cloud.number(logged), 1);
    assert_eq!(cloud.runs()[0]["end"], "failed");
}

#[test]
fn the_question_at_the_end_carries_the_last_word_where_the_stream_is_gone() {
    use cueme_tests::cloud_fake::{StreamEnd, StreamScript};
    let expired = StreamScript {
        events: 0,
        end: StreamEnd::Expired,
    };
    let script = Script {
        answers: vec!["I fixed it.".into(), "I wrote the docs.".into()],
        streams: [expired; 8].into(),
        ..Script::default()
    };
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "fix it", "--api", "v1"]);
    let first = cloud.question("I fixed it.");
    cloud.home.ok(&["answer", &first, "now the docs"]);
    let second = cloud.question("I wrote the docs.");
    cloud.home.ok(&["answer", &second, "--done"]);
    client.finish().printed(0);
}
