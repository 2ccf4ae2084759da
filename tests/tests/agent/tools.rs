//! The tools that are run for a custom CLI: web pages, searches, and commands that somebody approved.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::stage::{Stage, events, text};
use cueme_tests::Run;

/// A web server that answers everything with the same page, and tells what it was asked.
fn serve(page: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let count = stream.read(&mut request).unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&request[..count]).into_owned());
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                page.len()
            );
            let _ = stream.write_all((head + page).as_bytes());
        }
    });
    (address, receiver)
}

/// A stage whose agent is a custom CLI that calls this tool once, and then says what it was told.
fn stage(name: &str, args: &Value, tools: &Value) -> Stage {
    let stage = Stage::new("custom").with(
        "FAKE_CURSOR_TOOL",
        json!({"name": name, "args": args}).to_string(),
    );
    stage.configure(&json!({"models": {"m": Stage::custom_model()}, "tools": tools}));
    stage
}

/// Runs the stage to its end; what is asked in the end is declined.
fn run(stage: &Stage) -> Run {
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer_of("adapter", &["decline", "enough"]);
    let ended = running.finish().expect(0);
    stage.nothing_is_left();
    ended
}

#[test]
fn a_page_that_was_allowed_is_fetched_under_both_names_and_its_text_goes_into_the_next_turn() {
    for name in ["web_fetch", "mcp_web_fetch"] {
        let (address, asked) = serve("hello from the page");
        let args = json!({"url": format!("http://{address}/doc")});
        let stage = stage(name, &args, &json!({"webFetch": {"allowed": [address]}}));
        let ended = run(&stage);
        let called = &events(&ended, "tool_call")[0]["data"];
        assert_eq!((&called["name"], &called["args"]), (&json!(name), &args));
        assert!(text(&ended).contains("hello from the page"), "{}", ended.stdout);
        assert!(asked.recv().unwrap().starts_with("GET /doc"));
    }
}

#[test]
fn a_private_address_and_another_scheme_are_refused_and_nobody_is_asked_for_them() {
    let (address, asked) = serve("secret");
    for url in [format!("http://{address}/"), "file:///etc/passwd".to_owned()] {
        let stage = stage("web_fetch", &json!({ "url": url }), &json!({}));
        let ended = run(&stage);
        assert!(text(&ended).contains("refused"), "{url}: {}", ended.stdout);
        assert!(!text(&ended).contains("secret"));
    }
    assert!(asked.try_recv().is_err(), "the server was never reached");
}

#[test]
fn a_search_goes_to_the_configured_endpoint_with_its_token() {
    let (address, asked) = serve("three results");
    let tools = json!({"webSearch": {"endpoint": format!("http://{address}/find?lang=en"), "tokenEnv": "SEARCH_TOKEN"}});
    let stage =
        stage("web_search", &json!({"query": "rust & sqlite"}), &tools).with("SEARCH_TOKEN", "s3cr3t-token");
    let ended = run(&stage);
    assert!(text(&ended).contains("three results"), "{}", ended.stdout);
    let request = asked.recv().unwrap();
    assert!(
        request.starts_with("GET /find?lang=en&q=rust+%26+sqlite "),
        "{request}"
    );
    assert!(
        request
            .to_lowercase()
            .contains("authorization: bearer s3cr3t-token"),
        "{request}"
    );
}

#[test]
fn an_unknown_tool_and_arguments_that_do_not_fit_are_rejected_before_anything_runs() {
    let cases = [
        ("rm_rf", json!({"path": "/"}), "unknown tool"),
        (
            "web_fetch",
            json!({"uri": "http://example.org/"}),
            "invalid arguments for web_fetch",
        ),
        ("exec", json!({"command": ["ls"]}), "invalid arguments for exec"),
    ];
    for (name, args, words) in cases {
        let stage = stage(name, &args, &json!({}));
        let ended = run(&stage);
        assert!(text(&ended).contains(words), "{name}: {}", ended.stdout);
        // The one question is the last resort of a CLI that cannot cue by itself.
        assert_eq!(stage.questions().len(), 1, "{name}");
    }
}

#[test]
fn a_custom_cli_asks_by_a_tool_of_ours_and_the_human_is_asked_once() {
    let payload = json!({"type": "choice", "options": ["A", "B"]});
    for (name, args, answer) in [
        ("cue", json!({"prompt": "Ship it?"}), &["answer", "yes, ship"][..]),
        (
            "cue",
            json!({"prompt": "Which?", "payload": payload}),
            &["answer", "--select", "B"],
        ),
        (
            "pause",
            json!({"prompt": "Look first."}),
            &["answer", "--confirm"],
        ),
    ] {
        let stage = stage(name, &args, &json!({}));
        let running = stage.start(&["agent", "run", "--once", "do it"]);
        let cue = stage.answer(answer);
        assert_eq!(
            (&cue["origin"], &cue["kind"], &cue["prompt"]),
            (&"agent".into(), &name.into(), &args["prompt"])
        );
        let ended = running.finish().expect(0);
        let words = if name == "pause" {
            "Continue"
        } else {
            answer.last().unwrap()
        };
        assert!(text(&ended).contains(words), "{name}: {}", ended.stdout);
        assert_eq!(stage.questions().len(), 1, "{name}: {}", ended.stderr);
        assert_eq!(stage.delivery(cue["cue_id"].as_str().unwrap()), "acknowledged");
        stage.nothing_is_left();
    }
}

#[test]
fn an_answer_counts_as_delivered_only_once_the_custom_cli_works_on_it() {
    let stage = Stage::new("custom_deaf").with(
        "FAKE_CURSOR_TOOL",
        json!({"name": "cue", "args": {"prompt": "Ship it?"}}).to_string(),
    );
    stage.configure(&json!({"models": {"m": Stage::custom_model()}}));
    let running = stage.start(&["agent", "run", "--once", "do it"]);
    let cue = stage.answer(&["answer", "yes, ship"]);
    let ended = running.finish();
    assert_ne!(ended.code, Some(0), "{}", ended.stdout);
    assert_ne!(stage.delivery(cue["cue_id"].as_str().unwrap()), "acknowledged");
}

#[test]
fn a_wrong_question_by_our_tool_is_refused_with_the_reason() {
    let args = json!({"prompt": "Which?", "payload": {"type": "choice", "options": []}});
    let ended = run(&stage("cue", &args, &json!({})));
    assert!(text(&ended).contains("$.options"), "{}", ended.stdout);
}

#[test]
fn a_command_that_only_asks_the_human_needs_no_approval() {
    let stage = Stage::new("custom");
    let mut join = stage.command(&["join", "cursor"]);
    join.env("CUEME_SESSION", "chat-1").output().unwrap();
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let command = format!(
        "cueme cue {} --prompt 'Ship it?'",
        agents[0]["agent_id"].as_str().unwrap()
    );
    let call = json!({"name": "exec", "args": {"command": command}});
    let stage = stage.with("FAKE_CURSOR_TOOL", call.to_string());
    stage.configure(&json!({"models": {"m": Stage::custom_model()}}));
    let running = stage.start(&["agent", "run", "--once", "--resume", "chat-1", "do it"]);
    let cue = stage.answer(&["answer", "yes, ship"]);
    assert_eq!(
        (&cue["origin"], &cue["prompt"]),
        (&"agent".into(), &"Ship it?".into())
    );
    let ended = running.finish().expect(0);
    assert!(text(&ended).contains("yes, ship"), "{}", ended.stdout);
    assert_eq!(stage.questions().len(), 1, "{}", ended.stderr);
}

#[test]
fn a_custom_cli_that_fails_silently_gets_the_pipe_test_of_its_own_style() {
    let stage = Stage::new("custom");
    stage.configure(&json!({"models": {"m": {"command": "false", "args": []}}}));
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(1);
    let error = &events(&ended, "error")[0]["data"];
    assert!(
        error["remedy"].as_str().unwrap().contains("\"type\":\"turn\""),
        "{error}"
    );
}

/// A command that leaves a trace where it ran.
fn touching(stage_for: impl FnOnce(&Value) -> Stage) -> Stage {
    stage_for(&json!({"command": "touch made-here && echo it ran"}))
}

#[test]
fn a_command_runs_only_after_the_human_approved_it() {
    let stage = touching(|args| stage("exec", args, &json!({})));
    let made = stage.project().join("made-here");
    let running = stage.start(&["agent", "run", "do it"]);
    let cue = stage.answer(&["answer", "--confirm"]);
    assert_eq!(cue["origin"], "approval");
    assert!(
        cue["prompt"].as_str().unwrap().contains("touch made-here"),
        "{cue}"
    );
    stage.answer(&["decline", "enough"]);
    let ended = running.finish().expect(0);
    assert!(
        text(&ended).contains("it ran") && made.exists(),
        "{}",
        ended.stdout
    );
    stage.nothing_is_left();
}

#[test]
fn a_command_that_was_not_approved_never_runs_and_the_agent_is_told() {
    for answer in [
        &["answer", "--cancel"][..],
        &["decline", "not on this machine"],
        &["cancel"],
    ] {
        let stage = touching(|args| stage("exec", args, &json!({})));
        let running = stage.start(&["agent", "run", "do it"]);
        stage.answer(answer);
        stage.answer(&["decline", "enough"]);
        let ended = running.finish().expect(0);
        assert!(text(&ended).contains("refused"), "{answer:?}: {}", ended.stdout);
        assert!(!stage.project().join("made-here").exists(), "{answer:?}");
    }
}

#[test]
fn a_human_who_ends_the_run_at_an_approval_approves_nothing_and_is_not_asked_again() {
    let stage = touching(|args| stage("exec", args, &json!({})));
    let running = stage.start(&["agent", "run", "do it"]);
    stage.answer_of("approval", &["answer", "--done"]);
    let ended = running.finish().expect(0);
    assert!(text(&ended).contains("refused"), "{}", ended.stdout);
    assert!(!stage.project().join("made-here").exists());
    assert_eq!(stage.questions().len(), 1);
}

#[test]
fn a_policy_approves_what_it_names_and_nobody_is_disturbed() {
    let stage = touching(|args| stage("exec", args, &json!({})));
    let policy = "[[policy]]\nname = \"touching is fine\"\norigin = \"approval\"\ntext = \"touch .*\"\nconfirm = true\n";
    fs::write(stage.home.path().join("config.toml"), policy).unwrap();
    let ended = run(&stage);
    assert!(text(&ended).contains("it ran"), "{}", ended.stdout);
    assert!(stage.project().join("made-here").exists());
}

#[test]
fn without_a_human_there_is_no_tool_that_runs_commands() {
    let stage = touching(|args| stage("exec", args, &json!({})));
    let ended = stage.run(&["agent", "run", "--no-hap", "do it"]).expect(0);
    assert!(text(&ended).contains("no tools"), "{}", ended.stdout);
    assert!(!stage.project().join("made-here").exists());
}

#[test]
fn an_answer_that_the_agent_missed_is_not_used_up_by_an_approval() {
    let stage = stage("exec", &json!({"command": "echo hello"}), &json!({}));
    let mut join = stage.command(&["join", "cursor"]);
    join.env("CUEME_SESSION", "chat-1").output().unwrap();
    let agents = stage.home.run(&["agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap();
    stage.home.ask_for("100ms", agent, "Which one?", None).expect(75);
    let missed = stage.home.open("Which one?").unwrap()["cue_id"].clone();
    let missed = missed.as_str().unwrap();
    stage.home.run(&["answer", missed, "SQLite"]).expect(0);
    let running = stage.start(&["agent", "run", "--resume", "chat-1", "do it"]);
    let approval = stage.answer_of("approval", &["answer", "--confirm"]);
    assert_eq!(approval["agent_id"], agent);
    stage.answer_of("adapter", &["decline", "enough"]);
    running.finish().expect(0);
    assert_eq!(stage.delivery(missed), "handed");
    let told = stage.home.ask_for("20s", agent, "Next?", None).expect(75).stdout;
    assert!(told.contains("SQLite"), "{told}");
}
