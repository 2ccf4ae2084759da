//! `openclaw.json`: models, profiles and fallbacks, and what becomes of it when it changes under a conversation.

use serde_json::{Value, json};

use crate::stage::{Stage, events, text};
use cueme_tests::eventually;

fn argv(turn: &serde_json::Value) -> Vec<&str> {
    turn["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect()
}

#[test]
fn a_changed_configuration_is_used_from_the_next_turn_and_a_broken_one_is_not() {
    let stage = Stage::new("hap_ask");
    stage.configure(&json!({"models": {"cursor": Stage::cursor_model(&["--model", "first"])}}));
    let running = stage.start(&["agent", "run", "do it"]);
    stage.wait_for_turns(1);

    stage.configure(&json!({"models": {"cursor": Stage::cursor_model(&["--model", "second"])}}));
    eventually("a line of the log", || {
        stage.log().contains("has changed").then_some(())
    });
    stage.answer(&["answer", "--select", "A"]);
    stage.wait_for_turns(2);

    stage.configure_text("{\"models\": {\"cursor\": {\"command\": 7}}}");
    eventually("a line of the log", || {
        stage.log().contains("models.cursor.command").then_some(())
    });
    stage.answer(&["answer", "--select", "A"]);
    stage.wait_for_turns(3);

    stage.configure(&json!({"models": {"cursor": {"command": "agent", "enabled": false}}}));
    eventually("a second line of the log", || {
        (stage.log().matches("has changed").count() == 2).then_some(())
    });
    stage.answer(&["answer", "--select", "A"]);
    stage.wait_for_turns(4);

    stage.answer(&["decline"]);
    let ended = running.finish().expect(0);
    let turns = stage.turns();
    let models: Vec<_> = turns.iter().map(|turn| turn["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["first", "second", "second", "second"]);
    assert!(ended.stderr.contains("models.cursor.command"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("no model of the configuration is enabled"),
        "{}",
        ended.stderr
    );
    assert_eq!(events(&ended, "error").len(), 0);
    stage.nothing_is_left();
}

#[test]
fn a_broken_configuration_at_the_start_is_a_wrong_call_that_names_everything() {
    let stage = Stage::new("simple");
    stage.configure_text(r#"{"models":{"a":{"command":7,"timeoutMs":"10"}}}"#);
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(2);
    for path in ["models.a.command", "models.a.timeoutMs", "openclaw.json"] {
        assert!(ended.stderr.contains(path), "{path}: {}", ended.stderr);
    }
    assert!(stage.turns().is_empty());
}

#[test]
fn a_refused_login_rotates_the_profile_and_the_decision_is_reported_and_logged() {
    let mut model = Stage::cursor_model(&[]);
    model["authProfiles"] = json!(["default", "work"]);
    let stage = Stage::new("profiles").with("MY_WORK_KEY", "good-profile-key");
    stage.configure(&json!({"models": {"m": model}, "authProfiles": {"work": {"apiKeyEnv": "MY_WORK_KEY"}}}));
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    let decision = "MODEL_AUTH_ERROR: auth profile default failed, trying profile work";
    assert!(ended.stderr.contains(decision), "{}", ended.stderr);
    assert!(stage.log().contains(decision), "{}", stage.log());
    assert!(!stage.log().contains("good-profile-key"));
    assert_eq!(
        (events(&ended, "done").len(), events(&ended, "error").len()),
        (1, 0)
    );
    assert_eq!(stage.turns()[1]["env"]["CURSOR_API_KEY"], "good-profile-key");
    stage.nothing_is_left();
}

#[test]
fn a_refused_model_falls_back_and_the_decision_is_reported_and_logged() {
    let mut model = Stage::cursor_model(&["--model", "nope"]);
    model["fallbackModels"] = json!(["other"]);
    let stage = Stage::new("simple");
    stage.configure(&json!({"models": {"m": model, "other": Stage::cursor_model(&["--model", "auto"])}}));
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "m", "do it"])
        .expect(0);
    let decision = "MODEL_NOT_FOUND: model m failed, falling back to model other";
    assert!(ended.stderr.contains(decision), "{}", ended.stderr);
    assert!(stage.log().contains(decision), "{}", stage.log());
    assert_eq!(text(&ended), "Hello there.");
}

#[test]
fn an_exhausted_quota_gives_up_rather_than_change_the_model() {
    let mut model = Stage::cursor_model(&[]);
    model["fallbackModels"] = json!(["other"]);
    let stage = Stage::new("quota");
    stage.configure(&json!({"models": {"m": model, "other": Stage::cursor_model(&[])}}));
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "m", "do it"])
        .expect(1);
    assert_eq!(events(&ended, "error")[0]["data"]["code"], "QUOTA_EXCEEDED");
    assert!(
        ended.stderr.contains("QUOTA_EXCEEDED: nothing else to try"),
        "{}",
        ended.stderr
    );
    assert_eq!(stage.turns().len(), 1);
}

#[test]
fn each_failure_of_the_cli_has_its_code_its_remedy_and_its_line_in_the_log() {
    for (words, code, remedy) in [
        (
            "ActionRequiredError: Increase limits for faster responses You're out of usage.",
            "QUOTA_EXCEEDED",
            "dashboard",
        ),
        (
            "ActionRequiredError: Named models unavailable Free plans can only use Auto.",
            "PLAN_LIMIT",
            "--model auto",
        ),
        (
            "Error: Authentication required",
            "MODEL_AUTH_ERROR",
            "agent login",
        ),
    ] {
        let stage = Stage::new("says").with("FAKE_CURSOR_STDERR", words);
        let mut model = Stage::cursor_model(&[]);
        model["fallbackModels"] = json!(["other"]);
        stage.configure(&json!({"models": {"m": model, "other": Stage::cursor_model(&[])}}));
        let ended = stage
            .run(&["agent", "run", "--no-hap", "--model", "m", "do it"])
            .expect(1);
        let error = &events(&ended, "error")[0]["data"];
        assert_eq!(error["code"], code, "{words}");
        assert!(error["remedy"].as_str().unwrap().contains(remedy), "{error}");
        assert_eq!(stage.turns().len(), 1, "{code}: no other model without consent");
        let log = stage.log();
        for part in [code, words, "exited with code 1", "2026.10.01-fake000"] {
            assert!(log.contains(part), "{part}: {log}");
        }
    }
}

#[test]
fn a_failure_is_told_in_words_and_speaks_of_a_result_only_where_there_was_one() {
    let run = |scenario: &'static str| Stage::new(scenario).run(&["agent", "run", "--no-hap", "do it"]);
    for scenario in [
        "exit1_silent",
        "no_login",
        "partial_line_die",
        "no_result_no_text",
    ] {
        let ended = run(scenario).expect(1);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!told.contains("after its result"), "{scenario}: {told}");
        for debug in ["Some(", "None", "Code(", "Exit(", "ErrorData"] {
            assert!(!told.contains(debug), "{scenario}: {debug} in {told}");
        }
    }
    let late = run("result_then_exit1").expect(0);
    assert!(
        late.stderr.contains("exited with code 1 after its result"),
        "{}",
        late.stderr
    );
}

#[test]
fn every_word_of_a_broken_network_is_tried_again() {
    for words in [
        "Error: read ECONNRESET",
        "Error: write EPIPE",
        "Error: connect ETIMEDOUT 10.0.0.1:443",
        "Error: getaddrinfo EAI_AGAIN api2.cursor.sh",
        "Error: unable to verify the first certificate",
        "ConnectError: [unknown] HTTP 502 Bad Gateway",
        "Error: 503 Service Unavailable",
    ] {
        let stage = Stage::new("says")
            .with("FAKE_CURSOR_STDERR", words)
            .with("FAKE_CURSOR_FAILS", "1");
        let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
        assert!(
            ended.stderr.contains("NETWORK_ERROR: trying again in"),
            "{words}: {}",
            ended.stderr
        );
    }
}

#[test]
fn a_network_that_fails_for_a_moment_is_tried_again_with_the_same_model() {
    let words = "ConnectError: [unavailable] getaddrinfo ENOTFOUND api2.cursor.sh";
    let stage = Stage::new("says")
        .with("FAKE_CURSOR_STDERR", words)
        .with("FAKE_CURSOR_FAILS", "1");
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "gpt-5", "do it"])
        .expect(0);
    assert_eq!(stage.turns().len(), 2);
    assert!(
        stage.turns().iter().all(|turn| turn["model"] == "gpt-5"),
        "{:?}",
        stage.turns()
    );
    assert!(
        ended.stderr.contains("NETWORK_ERROR: trying again in"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_default_model_of_the_configuration_is_used() {
    let stage = Stage::new("simple");
    let (first, second) = (
        Stage::cursor_model(&["--model", "first"]),
        Stage::cursor_model(&["--model", "second"]),
    );
    stage.configure(&json!({"defaultModel": "b", "models": {"a": first, "b": second}}));
    stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    assert_eq!(stage.turns()[0]["model"], "second");
}

#[test]
fn a_model_named_for_the_first_is_not_carried_on_to_a_fallback() {
    let mut model = Stage::cursor_model(&[]);
    model["fallbackModels"] = json!(["other"]);
    let stage = Stage::new("simple");
    stage.configure(&json!({"models": {"cursor": model, "other": Stage::cursor_model(&[])}}));
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "nope", "do it"])
        .expect(0);
    assert!(
        ended.stderr.contains("falling back to model other"),
        "{}",
        ended.stderr
    );
    assert_eq!(stage.turns().last().unwrap()["model"], Value::Null);
}

#[test]
fn a_protocol_version_nobody_knows_fails_closed_or_falls_back() {
    let stage = Stage::new("custom").with("FAKE_CURSOR_PROTOCOL", "9.0");
    stage.configure(&json!({"models": {"m": Stage::custom_model()}}));
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(1);
    let error = &events(&ended, "error")[0]["data"];
    assert_eq!(error["code"], "PROTOCOL_ERROR");
    assert!(error["message"].as_str().unwrap().contains("9.0"), "{error}");
    assert!(
        stage.log().contains("PROTOCOL_ERROR: nothing else to try"),
        "{}",
        stage.log()
    );

    // The fallback is another program, which speaks a version that is known.
    let script = "read -r turn; echo '{\"type\":\"protocol\",\"data\":{\"version\":\"1.0\"}}'; \
                  echo '{\"type\":\"assistant_delta\",\"data\":{\"content\":\"old and trusted\"}}'; echo '{\"type\":\"done\"}'";
    let mut model = Stage::custom_model();
    model["fallbackModels"] = json!(["old"]);
    stage.configure(&json!({"models": {"m": model, "old": {"command": "sh", "args": ["-c", script]}}}));
    let ended = stage
        .run(&["agent", "run", "--no-hap", "--model", "m", "do it"])
        .expect(0);
    assert_eq!(text(&ended), "old and trusted");
    assert!(
        ended.stderr.contains("falling back to model old"),
        "{}",
        ended.stderr
    );
    stage.nothing_is_left();
}

#[test]
fn the_command_line_says_what_was_asked_for() {
    let stage = Stage::new("simple");
    let words = [
        "agent",
        "run",
        "--no-hap",
        "--permission",
        "default",
        "--sandbox",
        "enabled",
        "do it",
    ];
    stage.run(&words).expect(0);
    let turns = stage.turns();
    let argv = argv(&turns[0]);
    assert!(
        !argv.contains(&"--force") && argv.contains(&"--approve-mcps"),
        "{argv:?}"
    );
    assert!(
        argv.windows(2).any(|pair| pair == ["--sandbox", "enabled"]),
        "{argv:?}"
    );
    assert_eq!(argv.last(), Some(&"do it"));
}
