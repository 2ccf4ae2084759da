//! An unreliable network: through every failure between us and the API, a run is kept, and a start without an answer is
//! looked for.

use cueme_tests::cloud_fake::{Reply, Script, StreamEnd, StreamScript};
use cueme_tests::eventually;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::cloud::{Cloud, events};
use super::unattended::{launched, only_question, reported};

/// Everything that may stand in the place of the API's answer, as it is seen by a read.
fn disturbances() -> Vec<(&'static str, Reply)> {
    vec![
        ("a captive portal", Reply::Garbage),
        ("a captive portal that finds nothing", Reply::page(404)),
        ("a captive portal that forbids", Reply::page(403)),
        ("a redirection", Reply::page(302)),
        ("a proxy", Reply::page(502)),
        ("an outage", Reply::status(503, "unavailable")),
        ("a limit", Reply::wait("0")),
        ("a connection that breaks", Reply::Drop),
        (
            "an empty object",
            Reply::Body {
                status: 200,
                body: json!({}),
            },
        ),
        (
            "half an object",
            Reply::Body {
                status: 200,
                body: json!({"id": "bc_fake0001"}),
            },
        ),
    ]
}

/// Tries all cases at once: each has a home of its own, and waits most of its time.
fn each<T: Send>(cases: Vec<T>, run: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| run(case));
        }
    });
}

/// Waits until a command has said this often that it cannot reach the API.
fn unreachable(stdout: impl Fn() -> String, times: usize) {
    eventually("the run is kept and that is said", || {
        (stdout().matches("\"unreachable\"").count() >= times).then_some(())
    });
}

#[test]
fn whatever_stands_before_the_api_keeps_the_run_its_token_and_its_questions() {
    each(disturbances(), |(name, reply)| {
        let cloud = Cloud::start(Script::endless(), 1);
        let client = launched(&cloud, &[]);
        let callback = cloud.callback(1);
        let (_, exchanged) = cloud.exchange(&callback);
        let token = exchanged["token"].as_str().unwrap();
        eventually("a run that goes on", || {
            client.stdout().contains("RUNNING").then_some(())
        });
        cloud
            .fake
            .set_script(Script::endless().fail("GET", "/v0/agents/", 1_000, reply));
        unreachable(|| client.stdout(), 1);
        let ask = json!({
            "id": Uuid::now_v7(), "agent_id": callback.agent_id, "prompt": "Which one?", "wait_ms": 1,
        });
        let send = |method, path: &str, body: Option<&Value>| {
            cloud.send_as(token, &callback.run_id, method, path, body)
        };
        let (status, _) = send(Method::POST, "/api/v1/hap/cue", Some(&ask));
        assert!(status.is_success(), "{name}: {status}");
        let cue = cloud.question("Which one?");
        cloud.home.ok(&["answer", &cue, "the first"]);
        let (status, heard) = send(Method::GET, &format!("/api/v1/hap/cues/{cue}?wait_ms=5000"), None);
        assert_eq!(status, StatusCode::OK, "{name}");
        assert!(heard.to_string().contains("the first"), "{name}: {heard}");
        assert!(cloud.runs()[0]["end"].is_null(), "{name}");
        cloud.fake.set_script(Script {
            reads: vec!["FINISHED".to_owned(); 100].into(),
            ..Script::default()
        });
        let last = cloud.question("ended its turn");
        cloud.home.ok(&["answer", &last, "--done"]);
        client.finish().printed(0);
    });
}

#[test]
fn a_run_that_the_api_does_not_know_yet_is_kept() {
    for (api, path) in [("v0", "/v0/agents/"), ("v1", "/runs/")] {
        let script = Script::default().fail("GET", path, 3, Reply::status(404, "not_found"));
        let cloud = Cloud::start(script, 1);
        let run = cloud.run(&["launch", "x", "--no-hap", "--api", api]);
        let printed = run.printed(0);
        assert!(printed.contains("not_found"), "{api}: {printed}");
        assert_eq!(cloud.fake.agents().len(), 1, "{api}");
    }
}

#[test]
fn an_agent_that_the_api_has_never_heard_of_cannot_be_watched_and_leaves_no_run_behind() {
    let cloud = Cloud::start(Script::default(), 1);
    for api in ["v0", "v1"] {
        let refused = cloud.run(&["watch", "bc-nobody", "--api", api]);
        refused.printed(1);
        assert!(
            refused.stderr.contains("no agent \"bc-nobody\""),
            "{api}: {}",
            refused.stderr
        );
    }
    assert!(cloud.runs().is_empty(), "{:?}", cloud.runs());
}

#[test]
fn a_run_that_was_never_seen_is_left_unattended_and_not_failed() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = launched(&cloud, &["--no-hap"]);
    client.kill();
    reported(&cloud, |run| run["status"] == "UNATTENDED");
    cloud.fake.set_script(Script::endless().fail(
        "GET",
        "/v0/agents",
        1_000,
        Reply::status(403, "forbidden"),
    ));
    let agent = cloud.launched();
    cloud.run(&["watch", &agent, "--no-hap"]).printed(1);
    let left = reported(&cloud, |run| run["status"] == "UNATTENDED");
    assert!(left["end"].is_null(), "{left}");
}

#[test]
fn a_stream_that_is_lost_in_any_way_does_not_end_the_run() {
    let broken = |events, end| StreamScript { events, end };
    for streams in [
        vec![broken(2, StreamEnd::Break); 8],
        vec![broken(0, StreamEnd::Break); 8],
        vec![broken(1, StreamEnd::Close); 8],
        vec![broken(0, StreamEnd::Expired)],
    ] {
        let script = Script {
            streams: streams.into(),
            ..Script::default()
        };
        let cloud = Cloud::start(script, 1);
        let run = cloud.run(&["launch", "x", "--no-hap", "--api", "v1"]);
        let last = events(run.printed(0)).pop().unwrap();
        assert_eq!(last["text"], "All done.", "{last}");
    }
    for reply in [
        Reply::Garbage,
        Reply::page(404),
        Reply::status(404, "run_not_found"),
    ] {
        let cloud = Cloud::start(Script::default().fail("GET", "/stream", 100, reply), 1);
        cloud.run(&["launch", "x", "--no-hap", "--api", "v1"]).printed(0);
    }
}

/// The ways in which the answer to a start is lost although it was taken.
fn lost_answers() -> Vec<(&'static str, Reply)> {
    vec![
        ("a connection that breaks", Reply::Drop),
        ("a page", Reply::Garbage.done()),
        (
            "an error of the server",
            Reply::status(500, "internal_error").done(),
        ),
        ("an error of a proxy", Reply::page(504).done()),
        (
            "an empty object",
            Reply::Body {
                status: 200,
                body: json!({}),
            }
            .done(),
        ),
    ]
}

#[test]
fn a_launch_whose_answer_was_lost_is_found_however_it_was_lost() {
    for (api, path) in [("v0", "/v0/agents"), ("v1", "/v1/agents")] {
        each(lost_answers(), |(name, reply)| {
            let cloud = Cloud::start(Script::default().fail("POST", path, 1, reply), 1);
            let client = launched(&cloud, &["--api", api]);
            let cue = only_question(&cloud, "All done.");
            assert_eq!(cloud.fake.agents().len(), 1, "{api}, {name}");
            cloud.home.ok(&["answer", &cue, "--done"]);
            client.finish().printed(0);
            assert_eq!(cloud.fake.agents().len(), 1, "{api}, {name}");
        });
    }
}

/// The ways to lose a start so that it is unknown whether the API accepted it.
fn lost_starts(api: &str) -> Vec<(&'static str, Script)> {
    let (post, read) = match api {
        "v0" => ("/v0/agents", "/v0/agents"),
        _ => ("/v1/agents", "/v1/agents/"),
    };
    let unreadable = |reply| {
        let script = Script::default().fail("POST", post, 1, reply);
        script.fail("GET", read, 100, Reply::status(503, "unavailable"))
    };
    let mut all = vec![
        ("a page", Script::default().fail("POST", post, 1, Reply::Garbage)),
        ("a page, and nothing can be read", unreadable(Reply::Garbage)),
    ];
    if api == "v0" {
        let error = Reply::status(500, "internal_error");
        all.push((
            "an error of the server",
            Script::default().fail("POST", post, 1, error.clone()),
        ));
        all.push(("an agent that cannot be found", unreadable(error.done())));
    }
    all
}

#[test]
fn the_human_is_told_in_terminal_and_inbox_of_an_agent_that_may_be_running_and_decides() {
    for api in ["v0", "v1"] {
        each(lost_starts(api), |(name, script)| {
            let cloud = Cloud::start(script, 1);
            let client = cloud.begin(&["launch", "fix it", "--api", api]);
            let asked = only_question(&cloud, "https://cursor.com/agents");
            let agents = cloud.fake.agents().len();
            assert!(
                client.stdout().contains("https://cursor.com/agents"),
                "{api}, {name}: {}",
                client.stdout()
            );
            assert!(cloud.runs()[0]["end"].is_null(), "{api}, {name}");
            cloud.home.ok(&["answer", &asked, "Do not start it again"]);
            let ended = client.finish();
            assert!(
                ended.printed(1).contains("may have been taken"),
                "{api}, {name}: {ended:?}"
            );
            assert_eq!(cloud.fake.agents().len(), agents, "{api}, {name}");
            let run = reported(&cloud, |run| run["end"] == "failed");
            assert!(
                run["error"].as_str().unwrap().contains("cursor.com/agents"),
                "{run}"
            );
        });
        let (_, script) = lost_starts(api).remove(0);
        let cloud = Cloud::start(script, 1);
        let client = cloud.begin(&["launch", "fix it", "--api", api]);
        let asked = only_question(&cloud, "https://cursor.com/agents");
        cloud.home.ok(&["answer", &asked, "Start it again"]);
        let cue = cloud.question("All done.");
        cloud.home.ok(&["answer", &cue, "--done"]);
        client.finish().printed(0);
        assert_eq!(cloud.fake.agents().len(), 1, "{api}");
    }
}

#[test]
fn the_humans_word_outlives_an_outage_and_arrives_once() {
    for (api, path) in [("v0", "/followup"), ("v1", "/runs")] {
        let mut cases = disturbances();
        // An object with an id is a good answer of the first generation.
        cases.retain(|(name, _)| *name != "half an object");
        cases.extend(lost_answers());
        each(cases, |(name, reply)| {
            let is_taken = matches!(reply, Reply::Drop | Reply::Done(_));
            let times = if is_taken { 1 } else { 2 };
            let script = Script {
                answers: vec!["I fixed it.".into(), "I wrote the docs.".into()],
                ..Script::default()
            };
            let cloud = Cloud::start(script.clone().fail("POST", path, times, reply), 1);
            let client = launched(&cloud, &["--api", api]);
            let cue = only_question(&cloud, "I fixed it.");
            cloud.home.ok(&["answer", &cue, "now the docs"]);
            let next = cloud.question("I wrote the docs.");
            assert_eq!(cloud.home.delivery(&cue), "acknowledged", "{api}, {name}");
            cloud.home.ok(&["answer", &next, "--done"]);
            client.finish().printed(0);
            let sent = cloud.fake.count("POST", path);
            let expected = if is_taken { 1 } else { 3 };
            assert_eq!(sent, expected, "{api}, {name}: taken once");
        });
    }
}
