//! The end of a turn in the transcripts of real programs.
//!
//! The published programs (Claude Code 2.1.197, Codex 0.169.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0, Qwen Code
//! 0.24.4) wrote `transcripts/<runtime>.<case>.jsonl` while a scripted model ran `cueme pause`; their lines are
//! shortened to what matters here.

// Helpers of a test fail the test by panicking; the lint only exempts the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::{fs, io::Write, path::PathBuf, sync::mpsc, thread, time::Duration};

use runtimes::{
    Runtime,
    hook::{CallResult, Event, Follower, ToolCall, Turn, decode, is_cue_call, transcript::turn_of},
};
use serde_json::json;

fn recorded(name: &str) -> String {
    let path = format!("{}/tests/transcripts/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn turn(name: &str) -> Turn {
    turn_of(&recorded(name)).unwrap_or_else(|| panic!("{name}: no turn"))
}

#[test]
fn a_call_ended_as_the_host_recorded_it() {
    let exit = |code| CallResult::Failed { exit: Some(code) };
    let refused = || CallResult::Failed { exit: None };
    let cases = [
        ("claude_code.succeeded", CallResult::Succeeded),
        ("claude_code.still_open", exit(75)),
        ("claude_code.refused", refused()),
        ("codex.succeeded", CallResult::Succeeded),
        ("codex.still_open", exit(75)),
        ("codex.read_on", CallResult::Succeeded),
        ("copilot_cli.succeeded", CallResult::Succeeded),
        ("copilot_cli.still_open", exit(75)),
        ("copilot_cli.refused", refused()),
        ("copilot_cli.read_on", CallResult::Succeeded),
        ("gemini_cli.succeeded", CallResult::Succeeded),
        ("gemini_cli.still_open", exit(75)),
        ("gemini_cli.refused", refused()),
        ("qwen_code.succeeded", CallResult::Succeeded),
        ("qwen_code.still_open", exit(75)),
        ("qwen_code.refused", refused()),
    ];
    for (name, result) in cases {
        let turn = turn(name);
        assert!(
            turn.last_call.as_ref().is_some_and(is_cue_call),
            "{name}: {:?}",
            turn.last_call
        );
        assert_eq!(turn.last_result, result, "{name}");
        assert_eq!(turn.last_message.as_deref(), Some("All done."), "{name}");
        assert!(turn.is_ended, "{name}");
    }
    let running = turn("codex.running");
    assert!(running.last_call.as_ref().is_some_and(is_cue_call));
    assert!(
        matches!(running.last_result, CallResult::Running { handle: Some(_) }),
        "{:?}",
        running.last_result
    );
}

#[test]
fn a_tool_of_ours_is_known_in_codex_and_its_error_is_a_failure() {
    let text = recorded("codex.mcp_failed");
    let turn = turn_of(&text).unwrap();
    assert_eq!(turn.last_call.unwrap().name, "mcp__cueme__join");
    assert_eq!(turn.last_result, CallResult::Succeeded);
    let end = text.find("\"name\":\"join\"").unwrap();
    let turn = turn_of(&text[..end]).unwrap();
    assert!(
        turn.last_call.as_ref().is_some_and(is_cue_call),
        "{:?}",
        turn.last_call
    );
    assert_eq!(turn.last_result, CallResult::Failed { exit: None });
}

#[test]
fn what_a_command_prints_is_not_taken_for_the_hosts_record() {
    let codex = |output: &str| {
        let lines = [
            json!({ "type": "response_item", "payload": { "type": "function_call", "name": "exec_command",
                    "call_id": "c1", "arguments": "{\"cmd\":\"cueme pause a\"}" } }),
            json!({ "type": "response_item", "payload": { "type": "function_call_output", "call_id": "c1",
                    "output": output } }),
        ];
        turn_of(&format!("{}\n{}\n", lines[0], lines[1]))
            .unwrap()
            .last_result
    };
    assert_eq!(
        codex("Wall time: 1 seconds\nProcess exited with code 2\nOutput:\nProcess exited with code 0\n"),
        CallResult::Failed { exit: Some(2) }
    );
    assert_eq!(
        codex("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 2\n"),
        CallResult::Succeeded
    );
    assert_eq!(
        codex("exec_command failed: denied"),
        CallResult::Failed { exit: None }
    );
    assert_eq!(
        codex(r#"{"output":"x","metadata":{"exit_code":3}}"#),
        CallResult::Failed { exit: Some(3) }
    );
}

#[test]
fn thoughts_mcp_and_the_background_are_read_in_qwen_code() {
    let message =
        |kind: &str, parts: serde_json::Value| json!({ "type": kind, "message": { "parts": parts } });
    let asked = |tool: &str, result: serde_json::Value| {
        let call = json!([{ "text": "Let me think.", "thought": true },
                          { "functionCall": { "id": "c1", "name": tool, "args": { "command": "cueme pause a" } } }]);
        let mut ended = message(
            "tool_result",
            json!([{ "functionResponse": { "id": "c1", "name": tool } }]),
        );
        ended["toolCallResult"] = result;
        let lines = [
            message("user", json!([{ "text": "fix it" }])),
            message("assistant", call),
            ended,
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        turn_of(&text).unwrap()
    };
    let background = asked(
        "run_shell_command",
        json!({ "status": "success", "resultDisplay": "Background shell bg_1 started (pid 7)." }),
    );
    assert_eq!(background.last_result, CallResult::Running { handle: None });
    assert_eq!(background.last_message, None, "a thought is not said");
    let tool = asked(
        "mcp__cueme__pause",
        json!({ "status": "success", "resultDisplay": "Continue" }),
    );
    assert!(tool.last_call.as_ref().is_some_and(is_cue_call));
    assert_eq!(tool.last_result, CallResult::Succeeded);
    for status in ["error", "cancelled"] {
        let ended = asked("mcp__cueme__pause", json!({ "status": status }));
        assert_eq!(ended.last_result, CallResult::Failed { exit: None }, "{status}");
    }
    let unknown = asked("mcp__cueme__pause", json!(null));
    assert_eq!(unknown.last_result, CallResult::Unknown);
}

#[test]
fn a_record_that_is_still_to_come_is_told_from_the_one_of_this_turn() {
    let text = recorded("copilot_cli.still_open");
    let hook = text.lines().last().unwrap();
    let at = serde_json::from_str::<serde_json::Value>(hook).unwrap()["data"]["input"]["timestamp"].clone();
    let called = |at: &serde_json::Value| {
        let input = json!({ "sessionId": "s", "transcriptPath": "/t", "timestamp": at });
        decode(
            Runtime::CopilotCli,
            Event::Stop,
            input.to_string().as_bytes(),
            |_| None,
        )
        .unwrap()
    };
    let input = called(&at);
    assert!(input.is_recorded_in(turn_of(&text).as_ref()));
    assert!(!input.is_recorded_in(None));
    // Before the agent's last words are written, the last thing in the transcript is the result of its last call.
    let cut = text.find("\"All done.\"").unwrap();
    let before = &text[..text[..cut].rfind('\n').unwrap()];
    assert!(!input.is_recorded_in(turn_of(before).as_ref()));
    // The record of the turn before is whole, but of another time.
    assert!(!called(&json!(at.as_i64().unwrap() + 60_000)).is_recorded_in(turn_of(&text).as_ref()));
}

fn queue(operation: &str, content: &str) -> String {
    format!(
        "{}\n",
        json!({ "type": "queue-operation", "operation": operation, "content": content })
    )
}

fn transcript(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("t.jsonl");
    fs::write(&path, recorded("claude_code.succeeded")).unwrap();
    path
}

#[test]
fn words_in_the_hosts_queue_are_seen_and_its_own_notifications_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = transcript(&folder);
    let append = |line: &str| {
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    };
    let is_queued = || Follower::of_typing(&path).unwrap().is_found();
    assert!(!is_queued(), "what was typed before has reached the agent");
    append(&queue("enqueue", "<task-notification>\n<task-id>b1</task-id>"));
    assert!(!is_queued());
    append(&queue("enqueue", "and also this"));
    assert!(is_queued());
    append(&queue("dequeue", ""));
    assert!(!is_queued());
    append(&queue("enqueue", "one more"));
    append(&queue("popAll", ""));
    assert!(!is_queued());
}

#[test]
fn a_follower_wakes_when_the_human_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = transcript(&folder);
    let follower = Follower::of_typing(&path).unwrap();
    let mut observer = Follower::of_typing(&path).unwrap();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(follower.wait().is_ok()));
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(queue("enqueue", "<task-notification>").as_bytes())
        .unwrap();
    observer.read_on().unwrap();
    assert!(!observer.is_found(), "nobody has typed");
    // A line may arrive in pieces.
    let line = queue("enqueue", "and also this");
    let (first, rest) = line.split_at(20);
    file.write_all(first.as_bytes()).unwrap();
    file.write_all(rest.as_bytes()).unwrap();
    assert!(ended.recv_timeout(Duration::from_secs(20)).unwrap());
}

#[test]
fn a_transcript_that_is_still_to_be_made_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("projects/t.jsonl");
    let follower = Follower::of_typing(&path).unwrap();
    let mut observer = Follower::of_typing(&path).unwrap();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(follower.wait().is_ok()));
    fs::create_dir(folder.path().join("projects")).unwrap();
    fs::write(&path, recorded("claude_code.succeeded")).unwrap();
    observer.read_on().unwrap();
    assert!(!observer.is_found(), "nobody has typed");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(queue("enqueue", "and also this").as_bytes())
        .unwrap();
    assert!(ended.recv_timeout(Duration::from_secs(20)).unwrap());
}

#[test]
fn a_call_that_was_decided_in_the_window_has_ended_when_all_like_it_have() {
    let made = |id: &str, command: &str| {
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }] } })
    };
    let ended = |id: &str| {
        json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": "ok" }] } })
    };
    let call = ToolCall {
        name: "Bash".to_owned(),
        input: json!({ "command": "make" }),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let lines = [
        made("t1", "make"),
        ended("t1"),
        made("t2", "make"),
        made("t3", "ls"),
    ];
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let append = |line: serde_json::Value| {
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    };
    let follower = Follower::of_call_end(&path, &call).unwrap();
    let mut observer = Follower::of_call_end(&path, &call).unwrap();
    assert!(
        !follower.is_found(),
        "the first one ended before the hook was called"
    );
    let (sender, found) = mpsc::channel();
    thread::spawn(move || sender.send(follower.wait().is_ok()));
    let mut is_waiting = || {
        observer.read_on().unwrap();
        !observer.is_found()
    };
    append(made("t4", "make"));
    append(ended("t3"));
    assert!(is_waiting(), "another command has ended");
    append(ended("t2"));
    assert!(is_waiting(), "one of two that are alike has ended");
    append(ended("t4"));
    assert!(found.recv_timeout(Duration::from_secs(20)).unwrap());
}
