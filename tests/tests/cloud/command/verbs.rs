//! The verbs that start nothing, and what is said about a wrong configuration.

use cueme_tests::cloud_fake::{Script, Webhooks};
use cueme_tests::{Terminal, not_run_without};

use super::cloud::{Cloud, events};

#[test]
fn status_conversation_and_stop_speak_of_one_agent() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.run(&["launch", "fix it", "--no-hap"]).printed(0);
    let agent = cloud.launched();
    let status = cloud.run(&["status", &agent]);
    let status = events(status.printed(0)).remove(0);
    assert_eq!(
        (&status["agentId"], &status["status"]),
        (&agent.clone().into(), &"FINISHED".into())
    );
    assert!(status["prUrl"].is_string() && status["raw"].is_object());
    let said = cloud.run(&["conversation", &agent]);
    let said = events(said.printed(0));
    let kinds: Vec<_> = said.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant"]);
    let stopped = cloud.run(&["stop", &agent]);
    let stopped = events(stopped.printed(0)).remove(0);
    assert_eq!(stopped["type"], "stop");
}

#[test]
fn an_agent_that_does_not_exist_is_said_to_be_gone() {
    let cloud = Cloud::start(Script::default(), 1);
    for verb in ["status", "conversation", "stop"] {
        cloud.run(&[verb, "bc-nobody"]).refused(1, &["404", "hint:"]);
    }
}

#[test]
fn a_wrong_configuration_fails_before_anything_is_launched() {
    let cloud = Cloud::start(Script::default(), 1);
    let without = |name: &str, words: &[&str]| {
        let words: Vec<&str> = ["cloud", "launch", "x"].iter().chain(words).copied().collect();
        let mut command = cloud.command(&words);
        command.env_remove(name);
        cueme_tests::Client::start(&mut command, b"").finish()
    };
    without("CURSOR_API_KEY", &[]).refused(2, &["CURSOR_API_KEY", "hint:"]);
    without("CURSOR_WEBHOOK_SECRET", &[]).refused(2, &["CURSOR_WEBHOOK_SECRET", "hint:"]);
    without("CUEME_PUBLIC_URL", &[]).refused(2, &["no public URL", "hint:"]);
    cloud
        .run(&["launch", "x", "--repository", "nonsense"])
        .refused(2, &["not the URL of a repository"]);
    cloud.run(&["launch", " "]).refused(2, &["empty"]);
    assert_eq!(cloud.fake.count("POST", "/v0/agents"), 0);
}

#[test]
fn a_launch_names_every_wrong_setting_at_once_and_doctor_finds_them_too() {
    let cloud = Cloud::start(Script::default(), 1);
    let without_environment = |words: &[&str]| {
        let mut command = cloud.command(words);
        for name in ["CURSOR_API_KEY", "CURSOR_WEBHOOK_SECRET", "CUEME_PUBLIC_URL"] {
            command.env_remove(name);
        }
        cueme_tests::Client::start(&mut command, b"").finish()
    };
    without_environment(&["cloud", "launch", "x", "--ref", "a b"]).refused(
        2,
        &[
            "CURSOR_API_KEY",
            "CURSOR_WEBHOOK_SECRET",
            "publicUrl",
            "ref is not valid",
        ],
    );
    assert_eq!(cloud.fake.count("POST", "/v0/agents"), 0);
    let doctor = cloud.run(&["doctor", "--ref", "a b"]);
    let found = events(doctor.printed(1));
    let message = |check: &serde_json::Value| check["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        found
            .iter()
            .any(|check| message(check).contains("ref is not valid")),
        "{found:?}"
    );
}

#[test]
fn doctor_makes_every_check_and_its_exit_code_tells() {
    let cloud = Cloud::start(Script::default(), 1);
    let codes = |stdout: &str| -> Vec<String> {
        events(stdout)
            .iter()
            .map(|check| check["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let good = cloud.run(&["doctor"]);
    let found = codes(good.printed(0));
    for code in ["repo_ok", "public_url_local", "webhook_secret_ok", "auth_ok"] {
        assert!(
            found.contains(&format!("cursor_cloud_{code}")),
            "{code} in {found:?}"
        );
    }
    let unknown = cloud.run(&["doctor", "--model", "nobody"]);
    assert!(codes(unknown.printed(0)).contains(&"cursor_cloud_model_unknown".to_owned()));
    let mut command = cloud.command(&["cloud", "doctor"]);
    command.env("CURSOR_API_KEY", "wrong-key-of-the-test");
    let bad = cueme_tests::Client::start(&mut command, b"").finish();
    assert!(codes(bad.printed(1)).contains(&"cursor_cloud_auth_failed".to_owned()));
}

#[test]
fn webhooks_can_be_left_out() {
    let cloud = Cloud::start(
        Script {
            webhooks: Webhooks::Normal,
            ..Script::default()
        },
        1,
    );
    cloud
        .run(&["launch", "x", "--no-hap", "--no-webhooks"])
        .printed(0);
    assert!(cloud.fake.bodies("POST", "/v0/agents")[0]["webhook"].is_null());
}

#[test]
fn a_terminal_shows_words_and_a_pipe_gets_events() {
    let cloud = Cloud::start(Script::default(), 1);
    let piped = cloud.run(&["launch", "x", "--no-hap"]);
    assert!(piped.printed(0).lines().all(|line| line.starts_with('{')));
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    cloud.configure_whole();
    let terminal = Terminal::open(&cloud.home, &["cloud", "launch", "x", "--no-hap"]);
    let shown = terminal.sees("exit=0");
    assert!(
        shown.contains("done: FINISHED") && shown.contains("pull request: https://"),
        "{shown}"
    );
    assert!(!shown.contains("{\"type\""), "{shown}");
}
