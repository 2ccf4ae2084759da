//! The real adapter against every scenario of the double.

use cueme_tests::eventually_async;
use std::time::Duration;

use crate::fake::Fake;
use adapter_core::contract::Exit;
use adapter_core::process::cancellation;

#[tokio::test]
async fn healthy_turns_end_once_and_say_everything_once_in_both_modes() {
    let turns = [
        ("simple", "Hello there."),
        ("no_usage", "No usage."),
        ("tools", "Reading first. Done."),
        ("rejected", "Trying. It was blocked."),
        ("reconnect_ok", "Before. After."),
        ("unknown_types", "Fine."),
        ("ask", "I have two questions. They were skipped."),
        ("result_only", "Only in the result."),
        ("duplicate_result", "Once."),
        ("result_then_exit1", "Hello there."),
        ("notice_first", "Hello there."),
        ("free_plan", "Hello there."),
        ("noisy_stderr_ok", "Hello there."),
        ("stderr_flood", "Hello there."),
        ("stderr_mirror", "Hello there."),
        ("no_trailing_newline", "Fine."),
        ("crlf", "Hello there."),
        ("bom", "Hello there."),
        ("utf8_split", "é…漢字🙂"),
        ("silent_gap", "Hello there."),
        ("trickle", "Hello there."),
        ("huge_line", "Hello there."),
    ];
    for (scenario, text) in turns {
        let modes = [Fake::new(scenario), Fake::new(scenario).not_partial()];
        for fake in modes {
            let played = fake.play().await;
            played.assert_done();
            assert_eq!(played.text(), text, "{scenario}");
            assert_eq!(
                played.count("usage"),
                usize::from(scenario != "no_usage"),
                "{scenario}"
            );
        }
    }
}

#[tokio::test]
async fn failures_have_their_own_codes() {
    let turns = [
        ("auth", "MODEL_AUTH_ERROR"),
        ("no_login", "MODEL_AUTH_ERROR"),
        ("bad_key", "MODEL_AUTH_ERROR"),
        ("bad_model", "MODEL_NOT_FOUND"),
        ("trust_gate", "WORKSPACE_TRUST_REQUIRED"),
        ("quota", "QUOTA_EXCEEDED"),
        ("rate_limit", "RATE_LIMITED"),
        ("session_not_found", "SESSION_NOT_FOUND"),
        ("db_locked", "DATABASE_LOCKED"),
        ("permission_denied", "PERMISSION_DENIED"),
        ("retry_fail", "CLI_EXIT"),
        ("exit1_silent", "CLI_EXIT"),
        ("no_result_no_text", "NO_OUTPUT"),
        ("result_is_error", "MODEL_ERROR"),
        ("partial_line_die", "STREAM_TRUNCATED"),
        ("invalid_json", "PROTOCOL_ERROR"),
        ("huge_line_over", "LINE_TOO_LONG"),
    ];
    for (scenario, code) in turns {
        let played = Fake::new(scenario).play().await;
        played.assert_error(code);
        assert!(
            played.took < Duration::from_secs(10),
            "{scenario} took {:?}",
            played.took
        );
    }
}

#[tokio::test]
async fn a_silent_failure_says_so_and_how_to_debug_it() {
    let played = Fake::new("exit1_silent").play().await;
    let data = &played.last()["data"];
    assert!(data["message"].as_str().unwrap().contains("(no stderr)"));
    assert!(
        data["remedy"]
            .as_str()
            .unwrap()
            .contains("--output-format stream-json")
    );
}

#[tokio::test]
async fn a_clean_exit_without_a_result_is_accepted_and_marked() {
    let played = Fake::new("no_result_exit0").play().await;
    played.assert_done();
    assert_eq!(played.last()["data"]["truncated"], true);
}

#[tokio::test]
async fn text_before_a_failure_is_kept() {
    for scenario in ["partial_line_die", "invalid_json"] {
        assert_eq!(Fake::new(scenario).play().await.text(), "Kept.", "{scenario}");
    }
}

#[tokio::test]
async fn a_result_ends_the_turn_whatever_the_process_does_next() {
    for scenario in [
        "hang_after_result",
        "grandchild_holds_stdout",
        "grandchild_setsid",
    ] {
        let played = Fake::new(scenario).play().await;
        played.assert_done();
        assert!(
            played.took < Duration::from_secs(3),
            "{scenario} took {:?}",
            played.took
        );
    }
    assert_eq!(
        Fake::new("result_then_exit1").play().await.report.exit,
        Some(Exit::Code(1))
    );
}

#[tokio::test]
async fn the_deadline_ends_what_hangs_even_when_it_ignores_sigterm() {
    for scenario in ["hang_mid", "partial_line_hang", "ignore_sigterm"] {
        let played = Fake::new(scenario).deadline(800).play().await;
        played.assert_error("TIMEOUT");
        assert!(
            played.took < Duration::from_secs(6),
            "{scenario} took {:?}",
            played.took
        );
        let signal = if scenario == "ignore_sigterm" { 9 } else { 15 };
        assert_eq!(played.report.exit, Some(Exit::Signal(signal)), "{scenario}");
    }
}

#[tokio::test]
async fn a_cancelled_turn_ends_at_once_even_before_its_first_word() {
    let fake = Fake::new("hang_mid");
    let (canceller, cancelled) = cancellation();
    canceller.cancel();
    fake.play_until(cancelled).await.assert_error("CANCELLED");

    let (canceller, cancelled) = cancellation();
    let before = fake.calls().len();
    let later = async {
        eventually_async("a turn that has begun", || {
            (fake.calls().len() > before).then_some(())
        })
        .await;
        canceller.cancel();
    };
    let (played, ()) = tokio::join!(fake.play_until(cancelled), later);
    played.assert_error("CANCELLED");
}

#[tokio::test]
async fn a_custom_cli_is_asked_to_stop_by_a_message_first() {
    let mut fake = Fake::new("custom_cancel").deadline(600);
    fake.spec.prompt_as_arg = false;
    fake.spec.args.clear();
    let played = fake.play().await;
    played.assert_error("TIMEOUT");
    assert_eq!(played.report.exit, Some(Exit::Code(0)), "it left by itself");
    assert_eq!(
        fake.calls()[0],
        serde_json::json!({"type":"cancel","turnId":"t-1"})
    );
}

#[tokio::test]
async fn a_custom_cli_gets_the_turn_and_its_tools_and_its_version_is_checked() {
    let mut fake = Fake::new("custom");
    fake.spec.prompt_as_arg = false;
    fake.spec.args.clear();
    let played = fake.play().await;
    played.assert_done();
    assert_eq!(
        played.events[0],
        serde_json::json!({"type":"tool_call","data":{"name":"exec","args":{"command":"pwd"}}})
    );

    let fake = Fake {
        spec: fake.spec.clone(),
        ..Fake::new("custom").env("FAKE_CURSOR_PROTOCOL", "2.0")
    };
    fake.play().await.assert_error("PROTOCOL_ERROR");
}

#[tokio::test]
async fn a_dropped_turn_leaves_nothing_behind() {
    for scenario in ["hang_mid", "ignore_sigterm"] {
        let fake = Fake::new(scenario);
        {
            let mut turn = std::pin::pin!(fake.play());
            let begun = eventually_async("the turn's process", || (!fake.calls().is_empty()).then_some(()));
            tokio::select! {
                _ = &mut turn => panic!("{scenario} ended by itself"),
                () = begun => {}
            }
        }
        fake.nothing_is_left().await;
    }
}

#[tokio::test]
async fn a_long_prompt_goes_through_stdin_without_a_deadlock() {
    let mut fake = Fake::new("large_prompt");
    fake.prompt = "p".repeat(300_000);
    let played = fake.play().await;
    played.assert_done();
    assert_eq!(played.text(), "read 300000 bytes");
}

#[tokio::test]
async fn a_cli_that_leaves_before_reading_its_prompt_is_judged_by_its_own_words() {
    let mut fake = Fake::new("quota");
    fake.prompt = "p".repeat(300_000);
    fake.play().await.assert_error("QUOTA_EXCEEDED");
}

#[tokio::test]
async fn stdin_is_closed_when_the_prompt_is_an_argument() {
    Fake::new("stdin_hang").deadline(5_000).play().await.assert_done();
}

#[tokio::test]
async fn the_other_output_formats_are_read() {
    for (format, text) in [("json", "from json"), ("text", "from text")] {
        let mut fake = Fake::new(format);
        fake.spec.args = vec!["-p".into(), "--output-format".into(), format.into()];
        let played = fake.play().await;
        played.assert_done();
        assert_eq!(played.text(), text);
    }
}

#[tokio::test]
async fn the_environment_and_the_flags_reach_the_cli() {
    let fake = Fake::new("simple").env("FAKE_CURSOR_MARK", "here");
    fake.play().await.assert_done();
    let call = &fake.calls()[0];
    assert_eq!(call["env"]["FAKE_CURSOR_MARK"], "here");
    let argv: Vec<_> = call["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(argv[argv.len() - 3..], ["--approve-mcps", "--force", "hello"]);
}

#[tokio::test]
async fn secrets_never_leave_through_an_error() {
    let played = Fake::new("secret_stderr").play().await;
    let shown = format!("{} {}", played.last(), played.report.stderr);
    assert!(
        shown.contains("[redacted]") && !shown.contains("0123456789abcdef"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_missing_program_and_a_missing_directory_are_told_apart() {
    let mut fake = Fake::new("simple");
    fake.spec.command = "/nowhere/agent".into();
    fake.play().await.assert_error("COMMAND_NOT_FOUND");
    fake.spec.command = "no-such-cli-anywhere".into();
    fake.play().await.assert_error("COMMAND_NOT_FOUND");
    let fake = Fake::new("simple");
    let mut request = fake.request();
    request.cwd = Some("/nowhere".into());
    let options = fake.spec.normaliser();
    let cancelled = adapter_core::process::Cancelled::never();
    let mut codes = Vec::new();
    let mut sink = |item: adapter_core::contract::Item<'_>| {
        if let adapter_core::contract::Item::Event(adapter_core::contract::Event::Error(error)) = item {
            codes.push(error.code.to_string());
        }
    };
    adapter_core::cursor::cli::run_turn(
        &fake.spec,
        &request,
        options,
        crate::fake::GRACES,
        cancelled,
        &mut sink,
    )
    .await;
    assert_eq!(codes, ["CONFIG_ERROR"]);
}

#[tokio::test]
async fn two_turns_at_once_do_not_disturb_each_other() {
    let (one, two) = (Fake::new("tools"), Fake::new("ask"));
    let (first, second) = tokio::join!(one.play(), two.play());
    assert_eq!(first.assert_done().text(), "Reading first. Done.");
    assert_eq!(second.assert_done().report.evidence.skipped_questions.len(), 1);
}

#[tokio::test]
async fn a_recording_played_by_the_double_gives_what_the_recording_says() {
    let fake = Fake::new("");
    let file = fake.home.path().join("recording");
    std::fs::write(
        &file,
        "{\"type\":\"result\",\"is_error\":false,\"result\":\"recorded\"}\n",
    )
    .unwrap();
    let fake = fake.env("FAKE_CURSOR_SCENARIO", &format!("replay:{}", file.display()));
    assert_eq!(fake.play().await.assert_done().text(), "recorded");
}

#[tokio::test]
async fn failures_before_the_turn_come_in_the_order_of_the_real_cli() {
    let with = |scenario: &str, args: &[&str]| {
        let mut fake = Fake::new(scenario);
        fake.spec.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        fake
    };
    // Each has everything wrong that comes later, too.
    let login = with("no_login", &["--api-key", "", "--model", "nope"]);
    login.play().await.assert_error("MODEL_AUTH_ERROR");
    let key = with("trust_gate", &["--model", "nope"]).env("CURSOR_API_KEY", "");
    key.play().await.assert_error("MODEL_AUTH_ERROR");
    let model = with("trust_gate", &["--model", "nope"]);
    model.play().await.assert_error("MODEL_NOT_FOUND");
    with("trust_gate", &[])
        .play()
        .await
        .assert_error("WORKSPACE_TRUST_REQUIRED");
    with("trust_gate", &["--trust"]).play().await.assert_done();
}

#[tokio::test]
async fn a_chat_the_cli_does_not_know_is_adopted_in_silence_and_one_it_knows_is_continued() {
    let fake = Fake::new("simple");
    let mut request = fake.request();
    request.resume = Some("0bae1f09-3bb0-49b8-9b9d-96a70ede533f".to_owned());
    for _ in 0..2 {
        fake.play_request(&request).await.assert_done();
    }
    let root = adapter_core::cursor::chats::ChatsRoot::new(fake.home.path().join("chats"));
    let chats = root.list_for(fake.home.path()).unwrap();
    assert_eq!(chats.projects[0].chats.len(), 1);
    let mark = adapter_core::cursor::chats::mark_chat(&chats.projects[0].chats[0].path).unwrap();
    assert_eq!(mark.turns(), 2);
}

#[tokio::test]
async fn a_new_chat_s_id_must_be_free_and_a_uuid_of_version_4() {
    let with = |id: &str| {
        let mut fake = Fake::new("simple");
        fake.spec
            .args
            .extend(["--new-session-id".to_owned(), id.to_owned()]);
        fake
    };
    let played = with("not-a-uuid").play().await;
    assert!(
        played.report.stderr.contains("expected a UUIDv4"),
        "{}",
        played.report.stderr
    );
    let fake = with("0bae1f09-3bb0-49b8-9b9d-96a70ede533f");
    fake.play().await.assert_done();
    let played = fake.play().await;
    assert!(
        played.report.stderr.contains("is already in use"),
        "{}",
        played.report.stderr
    );
}
