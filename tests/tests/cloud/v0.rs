//! Cloud runs over the first generation of the API: webhooks, polling, and what goes wrong with both.

use cueme_tests::eventually_async;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use adapter_core::cursor::cloud::{
    ApiGeneration, Callback, CallbackIssuer, CloudApi, CloudError, CloudEvent, EXIT_CANCELLED, GateFuture,
    HumanGate, HumanWord, RunRef, RunRequest, Secret, Session, V0Client, WebhookTarget,
};
use adapter_core::hap::Confirmable;
use cueme_tests::cloud_fake::{API_KEY, FakeCloud, Reply, Script, Webhooks};

use crate::setting::{
    Parts, REPOSITORY, WEBHOOK_SECRET, WebhookReceiver, fast_retry, new_run, resumed_run, run, say, settings,
};

const V0: ApiGeneration = ApiGeneration::V0;

fn client(fake: &FakeCloud, key: &str) -> V0Client {
    V0Client::new(Secret::new(key), fake.base_url(), fast_retry()).unwrap()
}

fn session(agent_id: &str) -> Session {
    Session {
        agent_id: agent_id.to_owned(),
        repository: REPOSITORY.to_owned(),
        run_id: None,
        api: V0,
    }
}

#[tokio::test]
async fn api_client_auth_and_error_mapping() {
    let fake = FakeCloud::start(Script::default()).await;
    let me = client(&fake, API_KEY).me().await.unwrap();
    assert_eq!(me.user_email.as_deref(), Some("dev@acme.example"));
    assert!(me.extra.contains_key("createdAt"), "unknown fields are kept");
    assert_eq!(
        fake.log()[0].headers["authorization"],
        format!("Bearer {API_KEY}")
    );

    let error = client(&fake, "wrong-key-0123").me().await.unwrap_err();
    let api = error.api().unwrap();
    assert_eq!(
        (api.status, api.code.as_deref(), api.message.as_str()),
        (401, Some("unauthorized"), "invalid API key")
    );
    assert_eq!(api.context.to_string(), "GET /v0/me");
    assert_eq!(api.body["error"]["code"], "unauthorized");
    assert!(error.hint().is_some());

    let unknown = RunRef {
        agent_id: "bc_nobody".to_owned(),
        run_id: None,
    };
    let error = client(&fake, API_KEY).state(&unknown).await.unwrap_err();
    assert!(error.api().unwrap().is_not_found());
    assert_eq!(error.api().unwrap().message, "Agent not found");
}

#[tokio::test]
async fn unknown_fields_of_an_agent_are_kept_in_the_state() {
    let fake = FakeCloud::start(Script::default()).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.result_json["state"]["futureField"]["kept"], true);
}

#[tokio::test]
async fn models_and_repositories_are_listed_and_the_second_list_within_a_minute_is_not_asked_for() {
    let fake = FakeCloud::start(Script::default()).await;
    let client = client(&fake, API_KEY);
    assert_eq!(
        client.models().await.unwrap(),
        ["composer-2", "claude-4.6-sonnet"]
    );
    assert_eq!(client.repositories().await.unwrap(), [REPOSITORY]);
    assert!(matches!(
        client.repositories().await,
        Err(CloudError::RateLimited(_))
    ));
    assert_eq!(fake.count("GET", "/v0/repositories"), 1);
}

#[tokio::test]
async fn a_call_that_is_limited_waits_as_long_as_it_was_told() {
    let script = Script::default().fail("GET", "/v0/me", 1, Reply::wait("1"));
    let fake = FakeCloud::start(script).await;
    let started = Instant::now();
    client(&fake, API_KEY).me().await.unwrap();
    assert!(
        started.elapsed() >= Duration::from_millis(950),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(fake.count("GET", "/v0/me"), 2);
}

#[tokio::test]
async fn a_wait_of_hours_is_reported_and_not_slept() {
    let script = Script::default().fail("GET", "/v0/me", 1, Reply::wait("7200"));
    let fake = FakeCloud::start(script).await;
    let error = client(&fake, API_KEY).me().await.unwrap_err();
    assert_eq!(error.api().unwrap().retry_after, Some(Duration::from_secs(7_200)));
    assert_eq!(fake.count("GET", "/v0/me"), 1);
}

#[tokio::test]
async fn reads_are_repeated_after_server_errors_and_a_launch_is_not() {
    let script = Script::default()
        .fail("GET", "/v0/me", 2, Reply::status(503, "upstream_error"))
        .fail("POST", "/v0/agents", 1, Reply::status(500, "internal_error"));
    let fake = FakeCloud::start(script).await;
    client(&fake, API_KEY).me().await.unwrap();
    assert_eq!(fake.count("GET", "/v0/me"), 3);
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.exit_code, 1);
    assert_eq!(
        fake.count("POST", "/v0/agents"),
        1,
        "a launch whose fate is unknown must not be made twice"
    );
}

#[tokio::test]
async fn a_launch_that_was_limited_is_made_again_under_the_same_key() {
    let script = Script::default().fail("POST", "/v0/agents", 2, Reply::wait("0"));
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(fake.agents().len(), 1);
    let keys: Vec<_> = fake
        .log()
        .into_iter()
        .filter(|request| request.path == "/v0/agents")
        .map(|request| request.headers["idempotency-key"].clone())
        .collect();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[tokio::test]
async fn creates_a_fresh_agent_and_sends_no_cursor_api_key_with_it() {
    let fake = FakeCloud::start(Script::default()).await;
    let mut settings = settings(&fake, V0);
    settings.model = Some("composer-2".to_owned());
    settings.auto_create_pr = true;
    settings.branch_name = Some("feature/x".to_owned());
    settings.prompt_template = "On {{repository}}: {{prompt}}".to_owned();
    let outcome = say(&settings, "add a test").await;
    let body = &fake.bodies("POST", "/v0/agents")[0];
    assert_eq!(body["prompt"]["text"], format!("On {REPOSITORY}: add a test"));
    assert_eq!(body["source"]["repository"], REPOSITORY);
    assert_eq!(body["source"]["ref"], "main");
    assert_eq!(body["target"]["branchName"], "feature/x");
    assert_eq!(body["target"]["autoCreatePr"], true);
    assert_eq!(body["model"], "composer-2");
    assert!(!body.to_string().contains(API_KEY));
    assert!(body.get("webhook").is_none());
    assert_eq!(outcome.result.exit_code, 0);
}

#[tokio::test]
async fn launch_then_webhook_then_finished() {
    let receiver = WebhookReceiver::start().await;
    let fake = FakeCloud::start(Script::timeline(&[
        (0, "CREATING"),
        (50, "RUNNING"),
        (400, "FINISHED"),
    ]))
    .await;
    let mut settings = settings(&fake, V0);
    settings.public_url = Some(receiver.public_url.clone());
    settings.webhook_secret = Some(Secret::new(WEBHOOK_SECRET));
    // So rare that only the webhook can end the wait in time.
    settings.poll_interval = Duration::from_secs(20);
    let parts = Parts {
        signals: Some(&receiver.signals),
        ..Parts::default()
    };
    let started = Instant::now();
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(receiver.answers(), [204]);
    let target = fake.bodies("POST", "/v0/agents")[0]["webhook"]["url"].clone();
    assert_eq!(
        target,
        format!("{}/api/adapters/cursor-cloud/webhooks", receiver.public_url)
    );
    assert_eq!(outcome.kinds().first(), Some(&"init"));
    assert_eq!(outcome.kinds().last(), Some(&"result"));
    assert_eq!(outcome.assistant_texts(), ["All done."]);
    let result = &outcome.result;
    assert_eq!(result.result_json["status"], "FINISHED");
    assert_eq!(result.result_json["target"]["branchName"], "cursor/fake-branch");
    assert_eq!(
        result.result_json["target"]["prUrl"],
        "https://github.com/acme/site/pull/1"
    );
    assert_eq!(
        result.result_json["conversation"]["messages"][1]["text"],
        "All done."
    );
    assert_eq!(
        (result.provider, &result.usage, result.cost_usd),
        ("cursor", &None, None)
    );
    let session = result.session.as_ref().unwrap();
    assert_eq!(
        (session.agent_id.clone(), session.repository.as_str()),
        (fake.agents()[0].clone(), REPOSITORY)
    );
}

#[tokio::test]
async fn lost_webhook_falls_back_to_polling() {
    let receiver = WebhookReceiver::start().await;
    let fake = FakeCloud::start(Script {
        webhooks: Webhooks::Lost,
        ..Script::default()
    })
    .await;
    let mut settings = settings(&fake, V0);
    settings.public_url = Some(receiver.public_url.clone());
    settings.webhook_secret = Some(Secret::new(WEBHOOK_SECRET));
    let parts = Parts {
        signals: Some(&receiver.signals),
        ..Parts::default()
    };
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(receiver.answers().is_empty());
}

#[tokio::test]
async fn a_duplicated_webhook_is_answered_twice_and_acted_on_once() {
    let receiver = WebhookReceiver::start().await;
    let fake = FakeCloud::start(Script {
        webhooks: Webhooks::Duplicated,
        ..Script::default()
    })
    .await;
    let mut settings = settings(&fake, V0);
    settings.public_url = Some(receiver.public_url.clone());
    settings.webhook_secret = Some(Secret::new(WEBHOOK_SECRET));
    let parts = Parts {
        signals: Some(&receiver.signals),
        ..Parts::default()
    };
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert_eq!(
        outcome.kinds().iter().filter(|kind| **kind == "result").count(),
        1
    );
    eventually_async("the cloud", || (receiver.answers().len() == 2).then_some(())).await;
    assert_eq!((receiver.answers(), receiver.wakes()), (vec![204, 204], 1));
}

#[tokio::test]
async fn a_forged_webhook_wakes_nobody_and_the_run_ends_by_polling() {
    let receiver = WebhookReceiver::start().await;
    let fake = FakeCloud::start(Script {
        webhooks: Webhooks::Forged,
        ..Script::default()
    })
    .await;
    let mut settings = settings(&fake, V0);
    settings.public_url = Some(receiver.public_url.clone());
    settings.webhook_secret = Some(Secret::new(WEBHOOK_SECRET));
    let parts = Parts {
        signals: Some(&receiver.signals),
        ..Parts::default()
    };
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 0);
    eventually_async("the cloud", || (!receiver.answers().is_empty()).then_some(())).await;
    assert_eq!((receiver.answers(), receiver.wakes()), (vec![401], 0));
}

#[tokio::test]
async fn a_webhook_is_a_hint_and_the_status_is_read_again() {
    let fake = FakeCloud::start(Script::timeline(&[(0, "RUNNING"), (300, "FINISHED")])).await;
    let signals = adapter_core::cursor::cloud::RunSignals::default();
    let settings = settings(&fake, V0);
    let waker = {
        let signals = signals.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                signals.wake("bc_fake0001");
            }
        })
    };
    let parts = Parts {
        signals: Some(&signals),
        ..Parts::default()
    };
    let started = Instant::now();
    let outcome = run(&settings, &new_run("go"), parts).await;
    waker.await.unwrap();
    assert!(
        started.elapsed() >= Duration::from_millis(290),
        "a wake is not an end"
    );
    assert_eq!(outcome.statuses(), ["RUNNING", "FINISHED"]);
}

#[tokio::test]
async fn reordered_statuses_end_with_the_end() {
    let mut script = Script::timeline(&[(0, "FINISHED")]);
    script.reads = ["CREATING", "RUNNING", "CREATING", "RUNNING"]
        .map(str::to_owned)
        .into();
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    // The answer to the launch takes the first read.
    assert_eq!(outcome.statuses(), ["RUNNING", "CREATING", "RUNNING", "FINISHED"]);
}

#[tokio::test]
async fn maps_non_finished_results_to_failures() {
    for status in ["ERROR", "EXPIRED", "STOPPED", "HIBERNATED"] {
        let fake = FakeCloud::start(Script::timeline(&[(0, "RUNNING"), (60, status)])).await;
        let outcome = say(&settings(&fake, V0), "go").await;
        assert_eq!(outcome.result.exit_code, 1);
        assert_eq!(
            outcome.result.error_message.as_deref(),
            Some(format!("Cursor run {status}").as_str())
        );
        assert_eq!(
            outcome.result.result_json["status"], status,
            "the raw status is kept"
        );
        assert!(
            outcome.result.session.is_some(),
            "a failed conversation can be continued"
        );
        let Some(CloudEvent::Result { is_error, .. }) = outcome.events.last() else {
            panic!("no result")
        };
        assert!(is_error);
    }
}

#[tokio::test]
async fn timeout_stops_the_agent() {
    let fake = FakeCloud::start(Script::endless()).await;
    let mut settings = settings(&fake, V0);
    settings.timeout = Some(Duration::from_millis(200));
    let outcome = say(&settings, "go").await;
    assert_eq!((outcome.result.exit_code, outcome.result.timed_out), (1, true));
    assert_eq!(fake.count("POST", "/stop"), 1);
    assert_eq!(outcome.result.result_json["status"], "STOPPED");
    assert!(
        outcome
            .result
            .error_message
            .unwrap()
            .contains("longer than 0.2 s")
    );
}

#[tokio::test]
async fn cancel_aborts_the_wait_and_stops_the_agent() {
    let fake = FakeCloud::start(Script::endless()).await;
    let mut settings = settings(&fake, V0);
    settings.poll_interval = Duration::from_secs(60);
    let parts = Parts {
        cancel_after: Some(Duration::from_millis(150)),
        ..Parts::default()
    };
    let started = Instant::now();
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        (outcome.result.exit_code, outcome.result.cancelled),
        (EXIT_CANCELLED, true)
    );
    assert_eq!(fake.count("POST", "/stop"), 1);
    assert!(outcome.result.session.is_some());
}

#[tokio::test]
async fn cancel_during_the_launch_stops_what_was_launched() {
    let script = Script::endless().fail("POST", "/v0/agents", 1, Reply::wait("1"));
    let fake = FakeCloud::start(script).await;
    let mut settings = settings(&fake, V0);
    settings.grace = Duration::from_secs(5);
    let parts = Parts {
        cancel_after: Some(Duration::from_millis(100)),
        ..Parts::default()
    };
    let outcome = run(&settings, &new_run("go"), parts).await;
    assert!(outcome.result.cancelled);
    assert_eq!(
        fake.agents().len(),
        1,
        "the launch arrived after the cancellation"
    );
    assert_eq!(fake.count("POST", "/stop"), 1, "and was stopped");
}

#[tokio::test]
async fn a_stop_that_fails_is_said() {
    let script = Script::endless().fail("POST", "/stop", 100, Reply::status(403, "role_forbidden"));
    let fake = FakeCloud::start(script).await;
    let parts = Parts {
        cancel_after: Some(Duration::from_millis(100)),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V0), &new_run("go"), parts).await;
    let message = outcome.result.error_message.unwrap();
    assert!(
        message.contains("could not be stopped") && message.contains("role_forbidden"),
        "{message}"
    );
}

#[tokio::test]
async fn resumes_a_matching_session_when_no_active_run_can_be_reattached() {
    let script = Script {
        answers: vec!["First.".into(), "Second.".into()],
        ..Script::default()
    };
    let fake = FakeCloud::start(script).await;
    let settings = settings(&fake, V0);
    let first = say(&settings, "one").await;
    let second = run(
        &settings,
        &resumed_run("two", first.result.session.as_ref().unwrap()),
        Parts::default(),
    )
    .await;
    assert_eq!(second.result.exit_code, 0);
    assert_eq!(fake.agents().len(), 1);
    assert_eq!(fake.bodies("POST", "/followup")[0]["prompt"]["text"], "two");
    assert_eq!(
        second.assistant_texts(),
        ["Second."],
        "what was told before is not told again"
    );
    let CloudEvent::Init { resumed, .. } = &second.events[0] else {
        panic!("no init")
    };
    assert!(resumed);
}

#[tokio::test]
async fn the_old_status_right_after_a_follow_up_is_not_taken_for_the_end() {
    let script = Script {
        answers: vec!["First.".into(), "Second.".into()],
        ..Script::default()
    };
    let fake = FakeCloud::start(script.clone()).await;
    let mut settings = settings(&fake, V0);
    settings.grace = Duration::from_secs(5);
    let first = say(&settings, "one").await;
    let timeline = Script::timeline(&[(0, "CREATING"), (30, "RUNNING"), (800, "FINISHED")]).timeline;
    fake.set_script(Script {
        stale_reads: 2,
        timeline,
        ..script
    });
    let request = resumed_run("two", first.result.session.as_ref().unwrap());
    let second = run(&settings, &request, Parts::default()).await;
    assert_eq!(second.assistant_texts(), ["Second."]);
    assert!(second.statuses().contains(&"RUNNING"), "{:?}", second.statuses());
    assert_eq!(second.statuses().last(), Some(&"FINISHED"));
}

#[tokio::test]
async fn reattaches_to_an_active_run_drains_it_then_sends_a_follow_up() {
    let fake = FakeCloud::start(Script::timeline(&[(0, "RUNNING"), (300, "FINISHED")])).await;
    let client = client(&fake, API_KEY);
    let launched = client.launch(&launch()).await.unwrap();
    let request = resumed_run("and then?", &session(&launched.run.agent_id));
    let outcome = run(&settings(&fake, V0), &request, Parts::default()).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(outcome.statuses()[0], "draining");
    let log = fake.log();
    let follow_up = log
        .iter()
        .position(|request| request.path.ends_with("/followup"))
        .unwrap();
    let reads = log[..follow_up]
        .iter()
        .filter(|request| request.method == "GET")
        .count();
    assert!(reads >= 3, "the earlier run was waited for: {reads} reads");
}

#[tokio::test]
async fn resume_with_another_repository_launches_a_new_agent() {
    let fake = FakeCloud::start(Script::default()).await;
    let settings = settings(&fake, V0);
    let first = say(&settings, "one").await;
    let mut other = first.result.session.clone().unwrap();
    other.repository = "https://github.com/acme/other".to_owned();
    let second = run(&settings, &resumed_run("two", &other), Parts::default()).await;
    assert_eq!(second.result.exit_code, 0);
    assert_eq!((fake.agents().len(), fake.count("POST", "/followup")), (2, 0));
}

#[tokio::test]
async fn resume_of_an_agent_that_was_deleted_launches_a_new_one() {
    let fake = FakeCloud::start(Script::default()).await;
    let settings = settings(&fake, V0);
    let first = say(&settings, "one").await;
    fake.delete_agent(&first.result.session.as_ref().unwrap().agent_id);
    let second = run(
        &settings,
        &resumed_run("two", &first.result.session.unwrap()),
        Parts::default(),
    )
    .await;
    assert_eq!(
        (second.result.exit_code, fake.count("POST", "/v0/agents")),
        (0, 2)
    );
}

#[tokio::test]
async fn a_run_that_an_earlier_process_started_is_found_again() {
    let fake = FakeCloud::start(Script::timeline(&[(0, "RUNNING"), (300, "FINISHED")])).await;
    let launched = client(&fake, API_KEY).launch(&launch()).await.unwrap();
    let request = RunRequest::Attach {
        session: session(&launched.run.agent_id),
    };
    let outcome = run(&settings(&fake, V0), &request, Parts::default()).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(outcome.assistant_texts(), ["All done."]);
    assert_eq!((fake.agents().len(), fake.count("POST", "/followup")), (1, 0));
}

#[tokio::test]
async fn a_run_that_an_earlier_process_started_and_that_cannot_be_read_is_not_over() {
    let fake =
        FakeCloud::start(Script::default().fail("GET", "/v0/agents", 100, Reply::status(403, "forbidden")))
            .await;
    let request = RunRequest::Attach {
        session: session("bc_1"),
    };
    let outcome = run(&settings(&fake, V0), &request, Parts::default()).await;
    assert!(outcome.result.unattended, "{:?}", outcome.result);
    assert_eq!(outcome.result.exit_code, 1);
}

#[tokio::test]
async fn an_api_that_is_down_for_a_while_does_not_end_the_run() {
    let script = Script::default().fail("GET", "/v0/agents/", 9, Reply::status(502, "upstream_error"));
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(outcome.statuses().contains(&"unreachable"));
}

#[tokio::test]
async fn an_api_that_stays_down_is_waited_for_as_long_as_the_run_may_take() {
    let script = Script::default().fail("GET", "/v0/agents/", 10_000, Reply::status(502, "upstream_error"));
    let fake = FakeCloud::start(script).await;
    let limited = adapter_core::cursor::cloud::CloudSettings {
        timeout: Some(Duration::from_secs(3)),
        ..settings(&fake, V0)
    };
    let outcome = say(&limited, "go").await;
    assert!(outcome.result.timed_out && outcome.result.session.is_some());
    let looks = outcome
        .statuses()
        .iter()
        .filter(|status| **status == "unreachable")
        .count();
    assert!(looks > 5, "{looks}");
}

#[tokio::test]
async fn nothing_that_stands_before_the_api_ends_a_run_that_the_agent_works_on() {
    // A call that got no answer or a server's error is repeated before it counts as one failed look.
    for (reply, times) in [
        (Reply::Garbage, 6),
        (Reply::status(404, "not_found"), 6),
        (Reply::Drop, 24),
        (Reply::status(503, "unavailable"), 24),
    ] {
        let script = Script::default().fail("GET", "/v0/agents/", times, reply.clone());
        let fake = FakeCloud::start(script).await;
        let outcome = say(&settings(&fake, V0), "go").await;
        assert_eq!(
            outcome.result.exit_code, 0,
            "{reply:?}: {:?}",
            outcome.result.error_message
        );
        assert!(outcome.statuses().contains(&"unreachable"), "{reply:?}");
        assert_eq!(fake.agents().len(), 1, "{reply:?}");
    }
}

#[tokio::test]
async fn a_launch_whose_answer_was_lost_is_told_as_one_that_may_be_running() {
    let fake = FakeCloud::start(Script::default().fail("POST", "/v0/agents", 1, Reply::Drop)).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!((outcome.result.exit_code, fake.agents().len()), (1, 1));
    let message = outcome.result.error_message.unwrap();
    assert!(message.contains("may have been taken"), "{message}");
}

#[tokio::test]
async fn a_launch_that_is_never_answered_is_found() {
    let tokens = Tokens(Mutex::new(0));
    let parts = Parts {
        callbacks: Some(&tokens),
        ..Parts::default()
    };
    for (api, path) in [(V0, "/v0/agents"), (ApiGeneration::V1, "/v1/agents")] {
        let script = Script::default().fail("POST", path, 1, Reply::Hang { is_done: true });
        let fake = FakeCloud::start(script).await;
        let outcome = run(&settings(&fake, api), &new_run("go"), parts).await;
        assert_eq!(outcome.result.exit_code, 0, "{:?}", outcome.result.error_message);
        assert_eq!(fake.agents().len(), 1);
    }
    // Without a token in its prompt nobody can tell the agent from another one.
    let script = Script::default().fail("POST", "/v0/agents", 1, Reply::Hang { is_done: true });
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    let message = outcome.result.error_message.unwrap();
    assert!(message.contains("may have been taken"), "{message}");
}

#[tokio::test]
async fn a_token_in_a_conversation_that_somebody_else_began_is_redacted_by_its_form() {
    let fake = FakeCloud::start(Script::default()).await;
    let token = "cmb_0123456789abcdefghijABCDEFGHIJ0123456789abc";
    let mut launch = launch();
    launch.prompt =
        adapter_core::cursor::cloud::Prompt::new(format!("go\n<cueme_callback>{token}</cueme_callback>"));
    let launched = client(&fake, API_KEY).launch(&launch).await.unwrap();
    let request = RunRequest::Attach {
        session: session(&launched.run.agent_id),
    };
    let outcome = run(&settings(&fake, V0), &request, Parts::default()).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(
        outcome.lines.join("\n").contains("cueme_callback"),
        "the prompt was told back"
    );
    let result = serde_json::to_string(&outcome.result).unwrap();
    assert!(!outcome.lines.join("\n").contains(token) && !result.contains(token));
}

#[tokio::test]
async fn an_answer_that_is_not_the_apis_is_an_error() {
    let fake = FakeCloud::start(Script::default().fail("GET", "/v0/me", 1, Reply::Garbage)).await;
    let error = client(&fake, API_KEY).me().await.unwrap_err();
    assert!(matches!(error, CloudError::Unexpected { .. }), "{error}");
}

#[tokio::test]
async fn a_slow_conversation_is_waited_for_within_the_grace() {
    let script = Script {
        conversation_lag: 3,
        conversation_delay_ms: 30,
        ..Script::default()
    };
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.assistant_texts(), ["All done."]);
}

#[tokio::test]
async fn a_conversation_that_never_comes_does_not_make_a_success_a_failure() {
    let script = Script::default().fail(
        "GET",
        "/conversation",
        10_000,
        Reply::status(500, "internal_error"),
    );
    let fake = FakeCloud::start(script).await;
    let outcome = say(&settings(&fake, V0), "go").await;
    assert_eq!(outcome.result.exit_code, 0);
    let Some(CloudEvent::Result { text, .. }) = outcome.events.last() else {
        panic!("no result")
    };
    assert_eq!(
        text.as_deref(),
        Some("Did what was asked."),
        "the summary stands in for the words"
    );
}

#[derive(Debug, Default)]
struct Human {
    answers: Mutex<Vec<HumanWord>>,
    asked: Mutex<Vec<String>>,
    has_ended: bool,
}

impl HumanGate for Human {
    fn is_over<'a>(&'a self, _: &'a RunRef) -> GateFuture<'a, bool> {
        Box::pin(async { self.has_ended })
    }

    fn cue<'a>(&'a self, last_word: &'a str) -> GateFuture<'a, Result<Confirmable<HumanWord>, String>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(last_word.to_owned());
            let mut answers = self.answers.lock().unwrap();
            if answers.is_empty() {
                Err("no broker".to_owned())
            } else {
                Ok(Confirmable::unconfirmed(answers.remove(0)))
            }
        })
    }
}

#[tokio::test]
async fn a_finished_run_becomes_a_cue_and_the_answer_a_follow_up() {
    let script = Script {
        answers: vec!["First.".into(), "Second.".into()],
        ..Script::default()
    };
    let fake = FakeCloud::start(script).await;
    let human = Human {
        answers: Mutex::new(vec![
            HumanWord::Continue("and the tests?".into()),
            HumanWord::Done(None),
        ]),
        ..Human::default()
    };
    let parts = Parts {
        gate: Some(&human),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V0), &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(*human.asked.lock().unwrap(), ["First.", "Second."]);
    assert_eq!(
        fake.bodies("POST", "/followup")[0]["prompt"]["text"],
        "and the tests?"
    );
    assert_eq!(outcome.assistant_texts(), ["First.", "Second."]);
}

#[tokio::test]
async fn the_last_words_of_a_human_who_ends_the_run_are_a_follow_up_after_which_nobody_is_asked() {
    let fake = FakeCloud::start(Script::default()).await;
    let human = Human {
        answers: Mutex::new(vec![HumanWord::Done(Some("open the PR".into()))]),
        ..Human::default()
    };
    let parts = Parts {
        gate: Some(&human),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V0), &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert_eq!(human.asked.lock().unwrap().len(), 1);
    assert_eq!(
        fake.bodies("POST", "/followup")[0]["prompt"]["text"],
        "open the PR"
    );
}

#[tokio::test]
async fn a_run_that_the_human_ended_ends_without_another_cue() {
    let fake = FakeCloud::start(Script::default()).await;
    let human = Human {
        has_ended: true,
        ..Human::default()
    };
    let parts = Parts {
        gate: Some(&human),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V0), &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 0);
    assert!(human.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_human_who_cannot_be_reached_is_a_failure_and_not_consent() {
    let fake = FakeCloud::start(Script::default()).await;
    let human = Human::default();
    let parts = Parts {
        gate: Some(&human),
        ..Parts::default()
    };
    let outcome = run(&settings(&fake, V0), &new_run("go"), parts).await;
    assert_eq!(outcome.result.exit_code, 1);
    assert!(
        outcome
            .result
            .error_message
            .unwrap()
            .starts_with("HAP_INCOMPLETE")
    );
}

#[derive(Debug)]
struct Tokens(Mutex<u32>);

impl CallbackIssuer for Tokens {
    fn issue(&self) -> Result<Callback, String> {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        Ok(Callback {
            public_url: "https://broker.example".to_owned(),
            bootstrap_token: Secret::new(format!("cmb_one-time-token-{count}")),
            agent_id: "calm-otter".to_owned(),
            run_id: "run-7".to_owned(),
        })
    }
}

#[tokio::test]
async fn secrets_are_in_no_event_no_error_and_no_result() {
    let script = Script::default()
        .fail("POST", "/v0/agents", 1, Reply::Echo { status: 400 })
        .fail("POST", "/followup", 1, Reply::Echo { status: 400 });
    let fake = FakeCloud::start(script).await;
    let mut settings = settings(&fake, V0);
    settings.webhook_secret = Some(Secret::new(WEBHOOK_SECRET));
    let tokens = Tokens(Mutex::new(0));
    let parts = Parts {
        callbacks: Some(&tokens),
        ..Parts::default()
    };
    let refused = run(&settings, &new_run("go"), parts).await;
    assert!(
        refused
            .result
            .error_message
            .as_ref()
            .unwrap()
            .contains("validation_error")
    );
    let finished = run(&settings, &new_run("go"), parts).await;
    let resumed = resumed_run("more", finished.result.session.as_ref().unwrap());
    let refused_again = run(&settings, &resumed, parts).await;
    assert_eq!(finished.result.exit_code, 0);
    let prompt = fake.bodies("POST", "/v0/agents")[1]["prompt"]["text"].to_string();
    assert!(
        prompt.contains("cmb_one-time-token-2"),
        "the one-time token must reach the agent"
    );
    assert!(!prompt.contains(API_KEY) && !prompt.contains(WEBHOOK_SECRET));
    for outcome in [&refused, &finished, &refused_again] {
        let all = format!("{outcome:?} {}", serde_json::to_string(&outcome.result).unwrap());
        for secret in [API_KEY, WEBHOOK_SECRET, "cmb_one-time-token"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }
    assert!(
        finished.lines.iter().any(|line| line.contains("[redacted]")),
        "the prompt is told back, redacted"
    );
    assert!(!format!("{settings:?}").contains(API_KEY));
}

#[tokio::test]
async fn an_error_that_repeats_the_request_does_not_repeat_its_secrets() {
    let fake =
        FakeCloud::start(Script::default().fail("POST", "/v0/agents", 1, Reply::Echo { status: 400 })).await;
    let mut launch = launch();
    launch.prompt.text.push_str(" cmb_one-time-token");
    launch.prompt.secrets.push(Secret::new("cmb_one-time-token"));
    let secret = Secret::new(WEBHOOK_SECRET);
    launch.webhook = Some(WebhookTarget {
        url: "https://broker.example/hook".to_owned(),
        secret,
    });
    let error = client(&fake, API_KEY).launch(&launch).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(
        shown.contains("https://broker.example/hook"),
        "the rest of the body is kept: {shown}"
    );
    assert!(
        !shown.contains(WEBHOOK_SECRET) && !shown.contains("cmb_one-time-token"),
        "{shown}"
    );
}

#[tokio::test]
async fn omits_callback_when_no_run_jwt() {
    let fake = FakeCloud::start(Script::default()).await;
    say(&settings(&fake, V0), "go").await;
    assert_eq!(fake.bodies("POST", "/v0/agents")[0]["prompt"]["text"], "go");
}

fn launch() -> adapter_core::cursor::cloud::Launch {
    adapter_core::cursor::cloud::Launch {
        repository: REPOSITORY.to_owned(),
        reference: "main".to_owned(),
        model: None,
        auto_create_pr: false,
        branch_name: None,
        prompt: adapter_core::cursor::cloud::Prompt::new("earlier words"),
        webhook: None,
    }
}
