//! `cueme agent run --via acp`: what the agent asks inside of its turn is answered inside of its turn.

use std::os::unix::fs::PermissionsExt;

use cueme_tests::{Signal, send_signal};
use serde_json::{Value, json};

use crate::stage::{Stage, events, prompt_of, text};
use cueme_tests::eventually;

/// A stage whose CLI speaks ACP.
fn stage(scenario: &'static str) -> Stage {
    Stage::new("hap_ok")
        .with("FAKE_CURSOR_ACP", env!("CARGO_BIN_EXE_fake-acp-agent"))
        .with("FAKE_ACP_SCENARIO", scenario)
}

/// Runs a scenario whose question is answered like this; returns what the agent was told, as it repeats it.
fn answered(scenario: &'static str, words: &[&str]) -> (Value, Value) {
    let stage = stage(scenario);
    let run = stage.start(&["agent", "run", "do it"]);
    let asked = stage.answer(words);
    stage.answer(&["decline"]);
    let ended = run.finish().expect(0);
    let said = text(&ended);
    // The text of later turns, after the reminder to ask, follows it.
    let told = serde_json::Deserializer::from_str(&said).into_iter().next();
    (
        asked,
        told.unwrap().unwrap_or_else(|error| panic!("{error}: {said}")),
    )
}

#[test]
fn a_permission_shows_the_whole_input_and_a_yes_allows_it_once() {
    let (asked, told) = answered("permission", &["answer", "--confirm"]);
    assert_eq!(asked["origin"], "approval");
    let prompt = asked["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("rm -rf build") && prompt.contains("\"timeout\": 7"),
        "{prompt}"
    );
    assert_eq!(told["outcome"]["optionId"], "yes");
}

#[test]
fn a_decline_is_a_refusal_to_the_agent_and_not_the_end_of_the_run() {
    let stage = stage("permission");
    let run = stage.start(&["agent", "run", "do it"]);
    stage.answer_of("approval", &["decline", "not that folder"]);
    // The turn went on after the refusal, ended without asking, and the adapter asks what follows.
    stage.answer_of("adapter", &["decline"]);
    let ended = run.finish().expect(0);
    assert!(text(&ended).contains("\"optionId\":\"no\""), "{}", text(&ended));
    assert!(text(&ended).contains("not that folder"));
}

#[test]
fn questions_plans_and_forms_of_the_agent_are_answered_in_its_turn() {
    let (asked, told) = answered("ask", &["answer", "--select", "Adyen"]);
    assert!(asked["prompt"].as_str().unwrap().contains("Which one?"));
    assert_eq!(
        told["outcome"]["answers"],
        json!([{"questionId": "q1", "selectedOptionIds": ["b"]}])
    );
    let (asked, told) = answered("plan", &["answer", "use sessions"]);
    assert!(asked["prompt"].as_str().unwrap().contains("1. write it"));
    assert_eq!(
        told["outcome"],
        json!({"outcome": "rejected", "reason": "use sessions"})
    );
    let (_, told) = answered("elicit", &["answer", "--field", "Port=8080"]);
    assert_eq!(told, json!({"action": "accept", "content": {"port": 8080}}));
}

#[test]
fn a_turn_that_ends_silently_is_a_question_and_the_answer_continues_the_same_session() {
    let stage = stage("silent");
    let log = stage.home.path().join("acp.log");
    let stage = stage.with("FAKE_ACP_LOG", log.to_str().unwrap());
    let run = stage.start(&["agent", "run", "--json", "do it"]);
    stage.answer_of("adapter", &["answer", "and now the docs"]);
    stage.answer_of("adapter", &["decline"]);
    let ended = run.finish().expect(0);
    assert!(
        text(&ended).contains("done with: and now the docs"),
        "{}",
        text(&ended)
    );
    let session = &events(&ended, "session")[0]["data"];
    assert_eq!(
        (session["sessionId"].as_str(), session["model"].as_str()),
        (Some("5e55-1"), Some("double-1"))
    );
    // The history that the agent repeats while it loads the session is not shown a second time.
    assert!(!text(&ended).contains("what was said before"));
    let read = std::fs::read_to_string(&log).unwrap();
    assert!(
        read.contains("\"session/load\"") && read.contains("5e55-1"),
        "{read}"
    );
}

#[test]
fn an_agent_that_asks_with_cueme_cue_passes_the_gate_over_acp_too() {
    let stage = stage("cue");
    let run = stage.start(&["agent", "run", "--once", "do it"]);
    stage.answer_of("agent", &["answer", "ship it"]);
    let ended = run.finish().expect(0);
    assert!(text(&ended).contains("ship it"), "{}", text(&ended));
    assert_eq!(stage.questions().len(), 1, "nobody is asked twice");
}

#[test]
fn the_stream_is_used_where_the_cli_has_no_acp() {
    let stage = Stage::new("hap_ok");
    let run = stage.start(&["agent", "run", "--once", "do it"]);
    stage.answer(&["answer", "ship it"]);
    run.finish().expect(0);
    assert_eq!(stage.turns().len(), 1);
}

#[test]
fn the_stream_takes_over_where_acp_does_not_begin_unless_it_was_asked_for() {
    let stage = Stage::new("hap_ok");
    let program = stage.home.path().join("broken-acp");
    let script = "#!/bin/sh\ncase \"$*\" in *--help*) echo 'Usage: agent acp' ;; *) echo 'no such thing' >&2; exit 9 ;; esac\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let stage = stage.with("FAKE_CURSOR_ACP", program.to_str().unwrap());
    let refused = stage.run(&["agent", "run", "--via", "acp", "do it"]).expect(1);
    assert!(refused.stdout.contains("no such thing"), "{}", refused.stdout);
    assert!(stage.turns().is_empty(), "what was asked for is not replaced");
    let run = stage.start(&["agent", "run", "--once", "do it"]);
    stage.answer(&["answer", "ship it"]);
    let ended = run.finish().expect(0);
    assert_eq!(stage.turns().len(), 1);
    assert!(ended.stderr.contains("using the stream"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_dies_in_its_question_ends_the_run_and_its_question_is_closed() {
    let stage = stage("die");
    let ended = stage.run(&["agent", "run", "--via", "acp", "do it"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stdout.contains("out of memory"), "{}", ended.stdout);
    let is_closed = |cue: &Value| cue["outcome"] == "cancelled";
    eventually("closed questions", || {
        stage.questions().iter().all(is_closed).then_some(())
    });
}

#[test]
fn a_run_that_is_interrupted_in_a_question_closes_it_because_nobody_will_hear_the_answer() {
    let stage = stage("hang");
    let run = stage.start(&["agent", "run", "--via", "acp", "do it"]);
    let inbox = eventually("an open question", || {
        let inbox = stage.home.run(&["inbox", "--json"]).expect(0).json();
        inbox.as_array().unwrap().first().cloned()
    });
    send_signal(run.pid(), Signal::INT);
    let ended = run.finish();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let cue = inbox["cue_id"].as_str().unwrap();
    let shown = eventually("a closed question", || {
        let shown = stage.home.run(&["show", cue, "--json"]).expect(0).json();
        (shown["outcome"] != "open").then_some(shown)
    });
    assert_eq!(shown["outcome"], "cancelled");
}

#[test]
fn the_doctor_says_which_way_is_taken_and_why() {
    let with_acp = stage("silent").run(&["agent", "doctor"]);
    assert!(
        with_acp.stdout.contains("over ACP: the CLI offers `acp`"),
        "{}",
        with_acp.stdout
    );
    let without = Stage::new("hap_ok").run(&["agent", "doctor"]);
    assert!(
        without.stdout.contains("by the stream of the CLI: this version"),
        "{}",
        without.stdout
    );
}

#[test]
fn options_of_the_cli_are_passed_on_and_refused_where_it_has_none() {
    let stage = Stage::new("hap_ok");
    let words = [
        "agent",
        "run",
        "--no-hap",
        "--mode",
        "plan",
        "--worktree",
        "w1",
        "--trust",
        "--continue",
        "do it",
    ];
    stage.run(&words);
    let argv = stage.turns()[0]["argv"].clone();
    for option in ["--mode", "plan", "--worktree", "w1", "--trust", "--continue"] {
        assert!(
            argv.as_array().unwrap().iter().any(|word| word == option),
            "{option}: {argv}"
        );
    }
    assert_eq!(prompt_of(&stage.turns()[0]), "do it");
    let old = Stage::new("hap_ok").with("FAKE_CURSOR_HELP", "Usage: agent [options]\n  --model <model>");
    let refused = old
        .run(&["agent", "run", "--no-hap", "--mode", "plan", "do it"])
        .expect(2);
    assert!(
        refused.stderr.contains("has no --mode") && refused.stderr.contains("agent update"),
        "{}",
        refused.stderr
    );
    assert!(old.turns().is_empty());
}
