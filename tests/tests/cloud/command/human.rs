//! The human in cloud runs: asked at their end, or by the agent itself from where it runs.

use cueme_tests::cloud_fake::{Failure, Reply, Script};
use cueme_tests::eventually;
use reqwest::{Method, StatusCode};
use serde_json::json;
use uuid::Uuid;

use super::cloud::{Cloud, events};

#[test]
fn a_finished_run_that_was_not_cued_becomes_a_cue_and_the_answer_a_follow_up() {
    let script = Script {
        answers: vec!["I fixed the test.".into(), "I wrote the docs.".into()],
        ..Script::default()
    };
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "fix it"]);
    let first = cloud.question("I fixed the test.");
    assert_eq!(cloud.home.show(&first)["origin"], "adapter");
    cloud.home.ok(&["answer", &first, "now the docs"]);
    let second = cloud.question("I wrote the docs.");
    assert_eq!(cloud.fake.bodies("POST", "/followup").len(), 1);
    let prompt = cloud.fake.bodies("POST", "/followup")[0]["prompt"]["text"].to_string();
    assert!(prompt.contains("now the docs"), "{prompt}");
    assert_eq!(cloud.home.delivery(&first), "acknowledged");
    cloud.home.ok(&["decline", &second, "enough"]);
    let run = client.finish();
    let last = events(run.printed(0)).pop().unwrap();
    assert_eq!(
        (&last["status"], &last["text"]),
        (&"FINISHED".into(), &"I wrote the docs.".into())
    );
    assert_eq!(
        cloud.fake.count("POST", "/followup"),
        1,
        "a decline ends the conversation"
    );
    assert_eq!(cloud.home.delivery(&second), "acknowledged");
    let agents = cloud.home.json(&["agents", "--json"]);
    assert_eq!(agents[0]["agent_runtime"], "cursor_cloud");
}

#[test]
fn an_answer_that_the_cloud_refused_is_not_delivered() {
    let script = Script {
        failures: vec![Failure {
            method: "POST".into(),
            path_part: "/followup".into(),
            times: 100,
            reply: Reply::Status {
                status: 400,
                code: "invalid_request".into(),
                retry_after: None,
            },
        }],
        ..Script::default()
    };
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "fix it"]);
    let cue = cloud.question("All done.");
    cloud.home.ok(&["answer", &cue, "now the docs"]);
    client.finish().printed(1);
    assert_eq!(cloud.home.delivery(&cue), "handed");
}

#[test]
fn an_agent_in_the_cloud_asks_by_itself_and_its_run_ends_without_another_cue_where_once_is_enough() {
    let script = Script::timeline(&[(0, "RUNNING"), (9_000, "FINISHED")]);
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "--once", "fix it"]);
    let callback = cloud.callback(1);
    let (status, exchanged) = cloud.exchange(&callback);
    assert_eq!(status, StatusCode::OK, "{exchanged}");
    assert_eq!(exchanged["agentId"], callback.agent_id.as_str());
    let token = exchanged["token"].as_str().unwrap();
    let run = callback.run_id.as_str();
    let (_, skills) = cloud.send_as(token, run, Method::GET, "/api/skills/index", None);
    assert_eq!(skills["skills"][0]["name"], "hap");
    let (status, hap) = cloud.send_as(token, run, Method::GET, "/api/skills/hap", None);
    assert!(status.is_success() && hap.as_str().unwrap().contains("/api/v1/hap/cue"));
    let ask =
        json!({"id": Uuid::now_v7(), "agent_id": callback.agent_id, "prompt": "Ship it?", "wait_ms": 1});
    let (status, heard) = cloud.send_as(token, run, Method::POST, "/api/v1/hap/cue", Some(&ask));
    assert_eq!(status, StatusCode::ACCEPTED, "{heard}");
    let cue = cloud.question("Ship it?");
    cloud.home.ok(&["answer", &cue, "ship it"]);
    let path = format!("/api/v1/hap/cues/{cue}?wait_ms=5000");
    let (status, heard) = cloud.send_as(token, run, Method::GET, &path, None);
    assert_eq!(
        (status, &heard["told"]["text"]),
        (StatusCode::OK, &"ship it".into())
    );
    let acked = json!({"cue_ids": [cue]});
    cloud.send_as(token, run, Method::POST, "/api/v1/hap/ack", Some(&acked));
    let ended = client.finish();
    ended.printed(0);
    assert!(cloud.home.open_cues().is_empty(), "nobody was asked again");
    assert_eq!(cloud.fake.count("POST", "/followup"), 0);
    let (status, _) = cloud.send_as(token, run, Method::POST, "/api/v1/hap/ack", Some(&acked));
    assert_eq!(
        status,
        StatusCode::UNAUTHORIZED,
        "the token is worth nothing after the run"
    );
}

#[test]
fn an_answer_keeps_a_cloud_run_going_and_done_ends_it() {
    for (words, is_over) in [(&["done"][..], false), (&["--done", "ship it"][..], true)] {
        let script = Script::timeline(&[(0, "RUNNING"), (4_000, "FINISHED")]);
        let cloud = Cloud::start(script, 1);
        let client = cloud.begin(&["launch", "fix it"]);
        let callback = cloud.callback(1);
        let (_, exchanged) = cloud.exchange(&callback);
        let (token, run) = (exchanged["token"].as_str().unwrap(), callback.run_id.as_str());
        let ask =
            json!({"id": Uuid::now_v7(), "agent_id": callback.agent_id, "prompt": "Done?", "wait_ms": 1});
        cloud.send_as(token, run, Method::POST, "/api/v1/hap/cue", Some(&ask));
        let cue = cloud.question("Done?");
        cloud.home.ok(&[&["answer", &cue], words].concat());
        let path = format!("/api/v1/hap/cues/{cue}?wait_ms=5000");
        let (_, heard) = cloud.send_as(token, run, Method::GET, &path, None);
        let text = heard["told"]["text"].as_str().unwrap();
        assert_eq!(text.contains("the human ends the run"), is_over, "{heard}");
        cloud.send_as(
            token,
            run,
            Method::POST,
            "/api/v1/hap/ack",
            Some(&json!({"cue_ids": [cue]})),
        );
        if !is_over {
            let next = cloud.question("The agent in the cloud ended its turn.");
            cloud.home.ok(&["answer", &next, "--done"]);
        }
        client.finish().printed(0);
        assert!(cloud.home.open_cues().is_empty());
        assert_eq!(cloud.fake.count("POST", "/followup"), 0);
    }
}

#[test]
fn a_question_the_agent_left_open_is_the_one_the_human_answers_at_the_end() {
    let script = Script::timeline(&[(0, "RUNNING"), (6_000, "FINISHED")]);
    let cloud = Cloud::start(script, 1);
    let client = cloud.begin(&["launch", "fix it"]);
    let callback = cloud.callback(1);
    let (_, exchanged) = cloud.exchange(&callback);
    let token = exchanged["token"].as_str().unwrap();
    let ask =
        json!({"id": Uuid::now_v7(), "agent_id": callback.agent_id, "prompt": "Which one?", "wait_ms": 1});
    cloud.send_as(
        token,
        &callback.run_id,
        Method::POST,
        "/api/v1/hap/cue",
        Some(&ask),
    );
    let cue = cloud.question("Which one?");
    eventually("the run waits for the human", || {
        client.stdout().contains("awaiting_human").then_some(())
    });
    eventually("somebody listens again", || {
        let open = cloud.home.open_cues();
        (open.len() == 1 && open[0].waiting == 1).then_some(())
    });
    cloud.home.ok(&["decline", &cue]);
    client.finish().printed(0);
}

#[test]
fn without_a_listener_for_the_outside_the_prompt_has_no_way_back_and_the_human_is_still_asked() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.make_private();
    let client = cloud.begin(&["launch", "fix it"]);
    let cue = cloud.question("All done.");
    assert!(
        client.stderr().contains("cannot ask you itself"),
        "{}",
        client.stderr()
    );
    let prompt = cloud.fake.bodies("POST", "/v0/agents")[0]["prompt"]["text"].to_string();
    assert!(!prompt.contains("cueme_callback"), "{prompt}");
    cloud.home.ok(&["decline", &cue]);
    client.finish().printed(0);
}
