//! Cloud runs over the second generation of the API: streams, and what goes wrong with them.

use std::time::Duration;

use adapter_core::cursor::cloud::{ApiGeneration, CloudEvent, EXIT_CANCELLED, RunRequest, Session};
use cueme_tests::cloud_fake::{FakeCloud, Reply, Script, StreamEnd, StreamScript};

use crate::setting::{Parts, REPOSITORY, new_run, resumed_run, run, say, settings};

const V1: ApiGeneration = ApiGeneration::V1;

fn streams(script: Script, streams: &[(usize, StreamEnd)]) -> Script {
    let streams = streams
        .iter()
        .map(|(events, end)| StreamScript {
            events: *events,
            end: *end,
        })
        .collect();
    Script { streams, ..script }
}

fn assert_whole(outcome: &crate::setting::Outcome) {
    assert_eq!(outcome.result.exit_code, 0, "{outcome:?}");
    assert_eq!(outcome.assistant_texts(), ["All done."]);
    let tools = outcome.kinds().iter().filter(|kind| **kind == "tool").count();
    assert_eq!(tools, 2, "each tool event is told once");
    let Some(CloudEvent::Result { text, status, .. }) = outcome.events.last() else {
        panic!("no result")
    };
    assert_eq!(
        (text.as_deref(), status.as_str()),
        (Some("All done."), "FINISHED")
    );
}

#[tokio::test]
async fn a_run_is_followed_by_its_events() {
    let fake = FakeCloud::start(Script::default()).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_whole(&outcome);
    assert_eq!(outcome.kinds()[..2], ["init", "user"]);
    let session = outcome.result.session.as_ref().unwrap();
    assert_eq!(session.api, V1);
    assert!(session.run_id.is_some());
    assert_eq!(
        outcome.result.result_json["target"]["prUrl"],
        "https://github.com/acme/site/pull/1"
    );
    let body = &fake.bodies("POST", "/v1/agents")[0];
    assert_eq!(body["repos"][0]["url"], REPOSITORY);
    assert_eq!(body["repos"][0]["startingRef"], "main");
    assert!(body.get("model").is_none() && body.get("webhook").is_none());
    assert_eq!(fake.count("GET", "/stream"), 1);
}

#[tokio::test]
async fn a_dropped_stream_resumes_after_its_last_event() {
    let script = streams(Script::default(), &[(2, StreamEnd::Break), (2, StreamEnd::Close)]);
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_whole(&outcome);
    let resumed: Vec<_> = fake
        .log()
        .into_iter()
        .filter(|request| request.path.ends_with("/stream"))
        .map(|request| request.headers.get("last-event-id").cloned())
        .collect();
    assert_eq!(resumed[0], None);
    assert_eq!(resumed[1].as_deref(), Some("1713033005000-2"));
    assert!(resumed.len() >= 3);
}

#[tokio::test]
async fn a_status_that_is_replayed_is_told_once() {
    let script = streams(
        Script::timeline(&[(0, "RUNNING"), (400, "FINISHED")]),
        &[(1, StreamEnd::Break), (1, StreamEnd::Break)],
    );
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_eq!(outcome.statuses(), ["RUNNING", "FINISHED"]);
}

#[tokio::test]
async fn an_expired_stream_falls_back_to_polling() {
    let fake = FakeCloud::start(streams(Script::default(), &[(0, StreamEnd::Expired)])).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(outcome.statuses().contains(&"polling"));
    let Some(CloudEvent::Result { text, .. }) = outcome.events.last() else {
        panic!("no result")
    };
    assert_eq!(
        text.as_deref(),
        Some("All done."),
        "the run's result stands in for the words"
    );
}

#[tokio::test]
async fn an_event_id_that_is_refused_starts_the_stream_anew_without_telling_anything_twice() {
    let script = streams(
        Script::default(),
        &[(2, StreamEnd::Break), (0, StreamEnd::BadEventId)],
    );
    let fake = FakeCloud::start(script).await;
    assert_whole(&say(&settings(&fake, V1), "go").await);
}

#[tokio::test]
async fn a_stream_that_keeps_breaking_is_given_up_for_polling() {
    let breaks = [(0, StreamEnd::Break); 20];
    let fake = FakeCloud::start(streams(Script::default(), &breaks)).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(outcome.statuses().contains(&"polling"));
}

#[tokio::test]
async fn a_stream_that_never_begins_is_given_up_for_polling() {
    let script = Script::default().fail("GET", "/stream", 100, Reply::Hang { is_done: false });
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_eq!(outcome.result.exit_code, 0, "{:?}", outcome.result.error_message);
    assert!(outcome.statuses().contains(&"polling"));
}

#[tokio::test]
async fn a_stream_that_is_unavailable_is_tried_again() {
    let script = Script::default().fail("GET", "/stream", 2, Reply::status(503, "stream_unavailable"));
    let fake = FakeCloud::start(script).await;
    assert_whole(&say(&settings(&fake, V1), "go").await);
}

#[tokio::test]
async fn a_launch_whose_answer_was_lost_is_found_and_not_repeated() {
    let script = Script::default().fail("POST", "/v1/agents", 1, Reply::Drop);
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_whole(&outcome);
    assert_eq!((fake.agents().len(), fake.count("POST", "/v1/agents")), (1, 2));
}

#[tokio::test]
async fn maps_non_finished_results_to_failures() {
    for status in ["ERROR", "CANCELLED", "EXPIRED", "PAUSED_BY_ADMIN"] {
        let fake = FakeCloud::start(Script::timeline(&[(0, "RUNNING"), (60, status)])).await;
        let outcome = say(&settings(&fake, V1), "go").await;
        assert_eq!(outcome.result.exit_code, 1);
        assert_eq!(
            outcome.result.error_message.as_deref(),
            Some(format!("Cursor run {status}").as_str())
        );
        assert_eq!(outcome.result.result_json["status"], status);
    }
}

#[tokio::test]
async fn resumes_a_matching_session_when_no_active_run_can_be_reattached() {
    let fake = FakeCloud::start(Script::default()).await;
    let settings = settings(&fake, V1);
    let first = say(&settings, "one").await;
    let request = resumed_run("two", first.result.session.as_ref().unwrap());
    let second = run(&settings, &request, Parts::default()).await;
    assert_eq!(second.result.exit_code, 0);
    assert_eq!((fake.agents().len(), fake.count("POST", "/runs")), (1, 1));
    let (first, second) = (first.result.session.unwrap(), second.result.session.unwrap());
    assert_eq!(first.agent_id, second.agent_id);
    assert_ne!(first.run_id, second.run_id);
}

#[tokio::test]
async fn reattaches_to_an_active_run_drains_it_then_sends_a_follow_up() {
    let script = Script::timeline(&[(0, "RUNNING"), (1_500, "FINISHED")]);
    let fake = FakeCloud::start(script.clone()).await;
    let mut hurried = settings(&fake, V1);
    hurried.timeout = Some(Duration::from_millis(50));
    fake.set_script(script.fail("POST", "/cancel", 100, Reply::status(500, "internal_error")));
    let left_behind = run(&hurried, &new_run("one"), Parts::default()).await;
    assert!(left_behind.result.timed_out);
    fake.set_script(Script::timeline(&[(0, "RUNNING"), (100, "FINISHED")]));
    let session = left_behind.result.session.unwrap();
    let still_active = Session {
        run_id: None,
        ..session
    };
    let outcome = run(
        &settings(&fake, V1),
        &resumed_run("two", &still_active),
        Parts::default(),
    )
    .await;
    assert_eq!(outcome.result.exit_code, 0, "{outcome:?}");
    assert_eq!(outcome.statuses()[0], "draining");
    assert_eq!(
        fake.count("POST", "/runs"),
        1,
        "a follow-up sent too early would have been refused as busy"
    );
}

#[tokio::test]
async fn cancel_cancels_the_run_and_a_run_that_is_over_already_is_no_error() {
    let fake = FakeCloud::start(Script::endless()).await;
    let parts = Parts {
        cancel_after: Some(Duration::from_millis(150)),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V1), &new_run("go"), parts).await;
    assert_eq!(
        (outcome.result.exit_code, outcome.result.cancelled),
        (EXIT_CANCELLED, true)
    );
    assert_eq!(fake.count("POST", "/cancel"), 1);
    assert_eq!(outcome.result.result_json["status"], "CANCELLED");

    let script = Script::endless().fail("POST", "/cancel", 1, Reply::status(409, "run_not_cancellable"));
    fake.set_script(script);
    let outcome = run(&settings(&fake, V1), &new_run("go"), parts).await;
    assert_eq!(
        outcome.result.error_message.as_deref(),
        Some("the run was cancelled")
    );
}

#[tokio::test]
async fn a_run_that_an_earlier_process_started_is_found_again_by_its_agent() {
    let fake = FakeCloud::start(Script::default()).await;
    let settings = settings(&fake, V1);
    let first = say(&settings, "one").await;
    let session = Session {
        run_id: None,
        ..first.result.session.unwrap()
    };
    let outcome = run(&settings, &RunRequest::Attach { session }, Parts::default()).await;
    assert_whole(&outcome);
    assert_eq!(fake.count("POST", "/runs"), 0);
}

#[tokio::test]
async fn the_end_of_a_stream_is_believed_only_after_the_run_was_read() {
    let mut script = Script::timeline(&[(0, "FINISHED")]);
    script.reads = ["RUNNING", "RUNNING"].map(str::to_owned).into();
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V1), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(
        fake.log()
            .iter()
            .filter(|request| request.path.contains("/runs/run-"))
            .count()
            >= 4
    );
}
