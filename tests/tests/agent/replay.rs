//! `cueme agent replay`: recorded streams through the real binary.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use cueme_tests::{Home, Run};

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","model":"M"}"#;

fn assistant(text: &str) -> String {
    json!({"type":"assistant","message":{"content":[{"type":"text","text":text}]}}).to_string()
}

fn result(text: &str) -> String {
    json!({"type":"result","subtype":"success","is_error":false,"result":text}).to_string()
}

fn recording(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

fn kinds(ended: &Run) -> Vec<String> {
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    ended
        .stdout
        .lines()
        .map(|line| event(line)["type"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_recording_on_stdin_becomes_events_and_its_end_the_exit_code() {
    let home = Home::created();
    let stream = recording(&[INIT, &assistant("Hello."), &result("Hello.")]);
    let ended = home.run_with(&["agent", "replay", "-"], &stream).expect(0);
    assert_eq!(kinds(&ended), ["assistant_delta", "done"]);
    let broken = recording(&[INIT, &assistant("Hello."), "{\"type\": oops}"]);
    let ended = home.run_with(&["agent", "replay", "-"], &broken).expect(1);
    assert_eq!(kinds(&ended), ["assistant_delta", "error"]);
}

#[test]
fn the_exit_code_and_stderr_of_the_recorded_process_explain_a_silent_stream() {
    let home = Home::created();
    let stderr = home.path().join("stderr.txt");
    fs::write(
        &stderr,
        "Error: Authentication required. Please run 'agent login' first.",
    )
    .unwrap();
    let file = home.path().join("empty.ndjson");
    fs::write(&file, "").unwrap();
    let words = [
        "agent",
        "replay",
        file.to_str().unwrap(),
        "--exit",
        "1",
        "--stderr",
    ];
    let words = [&words[..], &[stderr.to_str().unwrap()]].concat();
    let ended = home.run(&words).expect(1);
    assert_eq!(ended.json()["data"]["code"], "MODEL_AUTH_ERROR");
}

#[test]
fn a_stream_that_ends_without_a_result_counts_as_exit_0() {
    let home = Home::created();
    let stream = recording(&[INIT, &assistant("And then")]);
    let ended = home.run_with(&["agent", "replay", "-"], &stream).expect(0);
    assert_eq!(kinds(&ended), ["assistant_delta", "done"]);
    home.run_with(&["agent", "replay", "-", "--exit", "1"], &stream)
        .expect(1);
}

#[test]
fn the_cli_s_own_tools_are_reported_only_when_asked_for() {
    let home = Home::created();
    let call = r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"ls"}}}}"#;
    let stream = recording(&[INIT, call, &assistant("Done."), &result("Done.")]);
    let ended = home.run_with(&["agent", "replay", "-"], &stream).expect(0);
    assert_eq!(kinds(&ended), ["assistant_delta", "done"]);
    let ended = home
        .run_with(&["agent", "replay", "-", "--activity"], &stream)
        .expect(0);
    assert_eq!(kinds(&ended), ["activity", "assistant_delta", "done"]);
}

#[test]
fn activity_has_the_input_the_output_and_the_diff_of_a_tool_without_secrets() {
    let home = Home::new();
    let call = |subtype: &str, body: Value| {
        json!({"type": "tool_call", "subtype": subtype, "call_id": "c", "tool_call": {"editToolCall": body}})
            .to_string()
    };
    let args = json!({"path": "/w/key.pem", "streamContent": "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n"});
    let success = json!({"path": "/w/key.pem", "linesAdded": 1, "diffString": "-old\n+new"});
    let started = call("started", json!({"args": args}));
    let ended = call("completed", json!({"args": args, "result": {"success": success}}));
    let stream = recording(&[INIT, &started, &ended, &assistant("Done."), &result("Done.")]);
    let ended = home
        .run_with(&["agent", "replay", "-", "--activity"], &stream)
        .expect(0);
    let steps: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(steps[0]["data"]["input"]["path"], "/w/key.pem");
    assert_eq!(steps[0]["data"].get("output"), None, "it has none yet");
    assert_eq!(steps[1]["data"]["output"]["success"]["linesAdded"], 1);
    assert_eq!(steps[1]["data"]["diff"], "-old\n+new");
    assert!(
        !ended.stdout.contains("MIIEvQ") && ended.stdout.contains("[redacted]"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_recording_of_another_output_format_is_read_as_what_it_is() {
    let home = Home::created();
    let document = format!(
        "Update available\n{:#}\n",
        json!({"type":"result","subtype":"success","result":"6"})
    );
    let words = ["agent", "replay", "-", "--output-format", "json"];
    let ended = home.run_with(&words, &document).expect(0);
    assert_eq!(kinds(&ended), ["assistant_delta", "done"]);
    let words = ["agent", "replay", "-", "--output-format", "text"];
    let ended = home.run_with(&words, "2 + 2 = 4\n").expect(0);
    assert_eq!(kinds(&ended), ["assistant_delta", "done"]);
    assert!(
        ended.stdout.contains(r#""content":"2 + 2 = 4""#),
        "{}",
        ended.stdout
    );
}

#[test]
fn words_that_repeat_and_words_that_are_re_sent_are_told_apart() {
    let home = Home::created();
    let delta = |text: &str| {
        json!({"type":"assistant","message":{"content":[{"type":"text","text":text}]},"timestamp_ms":1})
            .to_string()
    };
    let query = r#"{"type":"interaction_query","subtype":"request","query_type":"webFetchRequestQuery"}"#;
    let stream = [
        INIT,
        &delta("ha"),
        &delta("ha"),
        &delta("! "),
        &delta("haha! "),
        query,
        &delta("Done."),
        &assistant("Done."),
        &result("haha! Done."),
    ];
    let ended = home
        .run_with(&["agent", "replay", "-", "--partial"], &recording(&stream))
        .expect(0);
    let texts = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text: String = texts
        .filter_map(|event| event["data"]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "haha! Done.");
}

#[test]
fn a_line_above_the_cap_is_an_error_and_not_a_crash() {
    let home = Home::created();
    let stream = recording(&[
        INIT,
        &assistant("kept"),
        &assistant(&"x".repeat(17 * 1024 * 1024)),
        &result("never"),
    ]);
    let ended = home.run_with(&["agent", "replay", "-"], &stream).expect(1);
    assert_eq!(kinds(&ended), ["assistant_delta", "error"]);
    assert!(ended.stdout.contains("LINE_TOO_LONG"));
}

#[test]
fn a_file_that_is_not_there_is_a_wrong_call() {
    let home = Home::created();
    let ended = home.run(&["agent", "replay", "/nowhere/x.ndjson"]).expect(2);
    assert!(ended.stderr.contains("/nowhere/x.ndjson"), "{}", ended.stderr);
}

#[test]
fn recorded_streams_replay_to_their_sidecars_where_there_are_any() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/cursor-streams");
    let Ok(entries) = fs::read_dir(&folder) else {
        return;
    };
    let home = Home::created();
    for entry in entries {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "ndjson") {
            continue;
        }
        let sidecar: Value = serde_json::from_slice(&fs::read(file.with_extension("json")).unwrap()).unwrap();
        let stderr = home.path().join("stderr");
        fs::write(&stderr, sidecar["process"]["stderr"].as_str().unwrap_or_default()).unwrap();
        let code = sidecar["process"]["exit_code"].as_i64().unwrap_or(0).to_string();
        let mut words = vec!["agent", "replay", file.to_str().unwrap(), "--exit", &code];
        words.extend(["--stderr", stderr.to_str().unwrap()]);
        if sidecar["invocation"]["stream_partial_output"] == true {
            words.push("--partial");
        }
        let expected = &sidecar["expected"];
        let ended = home
            .run(&words)
            .expect(i32::from(expected["terminal"] == "error"));
        let events: Vec<Value> = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let text: String = events
            .iter()
            .filter_map(|event| event["data"]["content"].as_str())
            .collect();
        assert_eq!(
            text,
            expected["assistant_text"].as_str().unwrap(),
            "{}",
            file.display()
        );
        if expected["forwarded_strict_seed000"].is_null() {
            continue;
        }
        let mut order = kinds(&ended);
        order.dedup_by(|a, b| a == b && a == "assistant_delta");
        let order: Vec<String> = order
            .iter()
            .map(|kind| kind.replace("assistant_delta", "assistant_delta+"))
            .collect();
        assert_eq!(
            json!(order),
            expected["forwarded_strict_seed000"],
            "{}",
            file.display()
        );
    }
}
