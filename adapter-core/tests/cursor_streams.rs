//! Recorded and synthetic streams of the CLI, replayed to contract events.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;
use std::path::Path;

use adapter_core::contract::{Ending, OutputFormat};
use adapter_core::cursor::cli::{NormaliserOptions, ReplayOptions, replay};
use serde_json::Value;

struct Replayed {
    events: Vec<Value>,
    ending: Ending,
}

impl Replayed {
    fn text(&self) -> String {
        let deltas = self
            .events
            .iter()
            .filter(|event| event["type"] == "assistant_delta");
        deltas
            .map(|event| event["data"]["content"].as_str().unwrap())
            .collect()
    }

    /// The order of events, with neighbouring deltas folded and one entry per call of the CLI's own tools.
    fn order(&self) -> Vec<String> {
        let mut order: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for event in &self.events {
            let name = match event["type"].as_str().unwrap() {
                "assistant_delta" => "assistant_delta+".to_owned(),
                "activity" if !seen.insert(event["data"]["callId"].to_string()) => continue,
                "activity" => format!("tool_call:{}", event["data"]["name"].as_str().unwrap()),
                other => other.to_owned(),
            };
            if name != "assistant_delta+" || order.last() != Some(&name) {
                order.push(name);
            }
        }
        order
    }

    fn last(&self) -> &Value {
        self.events.last().unwrap()
    }
}

fn options(partial: bool) -> ReplayOptions {
    let registered = ["web_fetch", "web_search", "exec"].map(str::to_owned).into();
    let normaliser = NormaliserOptions {
        partial,
        activity: true,
        registered,
        ..NormaliserOptions::default()
    };
    ReplayOptions {
        normaliser,
        ..ReplayOptions::default()
    }
}

fn run(input: impl AsRef<[u8]>, options: ReplayOptions) -> Replayed {
    let mut out = Vec::new();
    let ending = replay(input.as_ref(), &mut out, options).unwrap();
    let events = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    Replayed { events, ending }
}

fn lines(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

fn assistant(text: &str, extra: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":{text}}}]}},"session_id":"s"{extra}}}"#
    )
}

const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"M","permissionMode":"default"}"#;
const TS: &str = r#","timestamp_ms":1"#;
const MC: &str = r#","timestamp_ms":1,"model_call_id":"m""#;

fn result(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":{},"session_id":"s"}}"#,
        serde_json::to_string(text).unwrap()
    )
}

#[test]
fn a_turn_with_tools_keeps_order_text_usage_and_outcomes() {
    let input = lines(&[
        INIT,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"never forwarded"}]}}"#,
        r#"{"type":"thinking","subtype":"delta","text":"hm","timestamp_ms":1}"#,
        &assistant("Looking.", MC),
        r#"{"type":"tool_call","subtype":"started","call_id":"c1\nf1","tool_call":{"toolCallId":"c1\nf1","shellToolCall":{"args":{"command":"ls"}},"startedAtMs":"1"},"model_call_id":"m"}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"c1\nf1","tool_call":{"shellToolCall":{"result":{"rejected":{"reason":"no"}}},"completedAtMs":"2"}}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"c1\nf1","tool_call":{"shellToolCall":{"result":{"rejected":{"reason":"no"}}},"completedAtMs":"2"}}"#,
        r#"{"type":"tool_call","subtype":"started","call_id":"c2","tool_call":{"futureToolCall":{"args":{"x":1}}}}"#,
        r#"{"type":"hologram","payload":[1,2]}"#,
        &assistant("Done.", ""),
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Looking.Done.","session_id":"s","usage":{"inputTokens":"6","outputTokens":2,"cacheReadTokens":9,"cacheWriteTokens":0}}"#,
        &result("twice"),
    ]);
    let replayed = run(input, options(false));
    assert_eq!(
        replayed.order(),
        [
            "assistant_delta+",
            "tool_call:Bash",
            "tool_call:Unknown",
            "assistant_delta+",
            "usage",
            "done"
        ]
    );
    assert_eq!(replayed.text(), "Looking.Done.");
    let usage = replayed
        .events
        .iter()
        .find(|event| event["type"] == "usage")
        .unwrap();
    assert_eq!(
        usage["data"],
        serde_json::json!({"promptTokens":6,"completionTokens":2,"cacheReadTokens":9,"cacheWriteTokens":0})
    );
    let ended: Vec<_> = replayed
        .events
        .iter()
        .filter(|event| event["data"]["phase"] == "completed")
        .collect();
    assert_eq!(ended.len(), 1, "a repeated end is reported once");
    assert_eq!(ended[0]["data"]["outcome"], "rejected");
    assert_eq!(
        ended[0]["data"]["hint"], "ls",
        "the arguments come from the start"
    );
}

#[test]
fn partial_output_is_never_doubled() {
    let input = lines(&[
        INIT,
        &assistant("ha", TS),
        &assistant("ha", TS),
        &assistant("!", TS),
        &assistant("haha!", MC),
        r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"result":{"success":{}}}}}"#,
        &assistant("Search", TS),
        &assistant("ing.", TS),
        &assistant("Searching.", TS),
        r#"{"type":"interaction_query","subtype":"request","query_type":"webSearchRequestQuery"}"#,
        &assistant("End.", TS),
        &assistant("End.", ""),
        &result("haha!Searching.End."),
    ]);
    assert_eq!(run(input, options(true)).text(), "haha!Searching.End.");
}

#[test]
fn text_that_is_only_in_the_result_is_emitted() {
    let replayed = run(lines(&[INIT, &result("only here")]), options(true));
    assert_eq!(replayed.order(), ["assistant_delta+", "done"]);
    assert_eq!(replayed.text(), "only here");
}

#[test]
fn notices_are_never_text_and_explain_a_turn_without_a_result() {
    let healthy = run(
        lines(&[
            "Update available: 2026.10",
            INIT,
            &assistant("hi", ""),
            &result("hi"),
        ]),
        options(false),
    );
    assert_eq!(healthy.order(), ["assistant_delta+", "done"]);
    let failed = run(
        lines(&[
            INIT,
            "RetriableError: [invalid_argument] unknown option '--system-prompt'",
        ]),
        options(false),
    );
    assert_eq!(failed.order(), ["error"]);
    assert_eq!(failed.last()["data"]["code"], "CLI_UNKNOWN_OPTION");
    assert!(
        failed.last()["data"]["message"]
            .as_str()
            .unwrap()
            .contains("RetriableError")
    );
}

#[test]
fn a_malformed_frame_fails_closed() {
    for bad in [
        "{\"type\":\"assistant\",",
        "{not json}",
        "{\"type\":\"a\"} trailing",
    ] {
        let replayed = run(
            lines(&[INIT, &assistant("kept", ""), bad, &result("never")]),
            options(false),
        );
        assert_eq!(replayed.order(), ["assistant_delta+", "error"], "{bad}");
        assert_eq!(replayed.last()["data"]["code"], "PROTOCOL_ERROR");
    }
    let mut bytes = b"{\"type\":\"assistant\",\"x\":\"".to_vec();
    bytes.extend([0xff, 0xfe]);
    bytes.extend(b"\"}\n");
    assert_eq!(
        run(bytes, options(false)).last()["data"]["code"],
        "PROTOCOL_ERROR"
    );
}

#[test]
fn a_torn_last_line_is_reported_as_truncation_after_the_text() {
    let input = format!("{INIT}\n{}\n{{\"type\":\"assis", assistant("so far", ""));
    let replayed = run(input, options(false));
    assert_eq!(replayed.order(), ["assistant_delta+", "error"]);
    assert_eq!(replayed.last()["data"]["code"], "STREAM_TRUNCATED");
}

#[test]
fn the_end_of_a_stream_without_a_result_is_judged_by_exit_code_and_events() {
    let said = lines(&[INIT, &assistant("hi", "")]);
    let accepted = run(&said, options(false));
    assert_eq!(
        accepted.last()["data"],
        serde_json::json!({"finishReason":"stop","truncated":true})
    );
    let failed = run(
        &said,
        ReplayOptions {
            exit: Some(1),
            ..options(false)
        },
    );
    assert_eq!(failed.last()["data"]["code"], "CLI_EXIT");
    assert!(
        failed.last()["data"]["message"]
            .as_str()
            .unwrap()
            .contains("(no stderr)")
    );
    let silent = run(lines(&[INIT]), options(false));
    assert_eq!(silent.last()["data"]["code"], "NO_OUTPUT");
    let auth = ReplayOptions {
        exit: Some(1),
        stderr: "Error: Authentication required.".into(),
        ..options(false)
    };
    assert_eq!(run("", auth).last()["data"]["code"], "MODEL_AUTH_ERROR");
}

#[test]
fn a_result_wins_over_the_exit_code_and_an_error_result_is_an_error() {
    let well = run(
        lines(&[INIT, &result("x")]),
        ReplayOptions {
            exit: Some(1),
            stderr: "Authentication required".into(),
            ..options(false)
        },
    );
    assert!(matches!(well.ending, Ending::Done(_)));
    let ill = r#"{"type":"result","subtype":"error","is_error":true,"result":"Error: Authentication failed. Please run 'cursor-agent login'"}"#;
    assert_eq!(
        run(lines(&[INIT, ill]), options(false)).last()["data"]["code"],
        "MODEL_AUTH_ERROR"
    );
}

#[test]
fn line_ends_marks_and_a_missing_last_newline_make_no_difference() {
    let plain = lines(&[INIT, &assistant("é", ""), &result("é")]);
    let forms = [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.trim_end().to_owned(),
    ];
    for form in forms {
        assert_eq!(run(form, options(false)).order(), ["assistant_delta+", "done"]);
    }
    let blocks = format!(
        "__JSON_START__\n{}\n__JSON_END__\n__JSON_START__\n{}\n__JSON_END__\n",
        assistant("b", ""),
        result("b")
    );
    assert_eq!(run(blocks, options(false)).order(), ["assistant_delta+", "done"]);
}

#[test]
fn contract_shaped_events_pass_and_unregistered_tools_do_not() {
    let input = lines(&[
        r#"{"type":"protocol","data":{"version":"1.0"}}"#,
        r#"{"type":"assistant_delta","data":{"content":"a"}}"#,
        r#"{"type":"tool_call","data":{"name":"exec","args":{"command":"pwd"}}}"#,
        r#"{"type":"tool_call","data":{"name":"rm_rf","args":{}}}"#,
        r#"{"type":"tool_call","subtype":"started","call_id":"n","tool_call":{"name":"web_fetch","arguments":"{\"url\":\"https://e.org\"}"}}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"n","tool_call":{"name":"web_fetch","arguments":{}}}"#,
        r#"{"type":"tool_call","subtype":"started","call_id":"o","tool_call":{"function":{"name":"web_search","arguments":{"query":"q"}}}}"#,
        r#"{"type":"tool_call","subtype":"started","call_id":"m","tool_call":{"mcpToolCall":{"args":{"name":"web_fetch","args":{}}}}}"#,
        r#"{"type":"usage","data":{"promptTokens":1,"completionTokens":2}}"#,
        r#"{"type":"done","data":{"finishReason":"stop"}}"#,
    ]);
    let mut replay_options = options(false);
    replay_options.normaliser.activity = false;
    let replayed = run(input, replay_options);
    assert_eq!(
        replayed.order(),
        [
            "assistant_delta+",
            "tool_call",
            "tool_call",
            "tool_call",
            "usage",
            "done"
        ]
    );
    assert_eq!(
        replayed.events[2]["data"],
        serde_json::json!({"name":"web_fetch","args":{"url":"https://e.org"}})
    );
}

#[test]
fn an_unsupported_protocol_version_fails_closed() {
    let input = lines(&[r#"{"type":"protocol","data":{"version":"9.0"}}"#, &result("x")]);
    assert_eq!(
        run(input, options(false)).last()["data"]["code"],
        "PROTOCOL_ERROR"
    );
}

#[test]
fn the_json_and_text_formats_are_read_too() {
    let mut json = options(false);
    json.normaliser.format = OutputFormat::Json;
    let document =
        "Update available\n{\n  \"type\": \"result\",\n  \"is_error\": false,\n  \"result\": \"6\"\n}\n";
    assert_eq!(run(document, json).text(), "6");
    let mut text = options(false);
    text.normaliser.format = OutputFormat::Text;
    let replayed = run("2 + 2 = 4\n", text);
    assert_eq!(
        (
            replayed.text().as_str(),
            replayed.order().last().unwrap().as_str()
        ),
        ("2 + 2 = 4", "done")
    );
}

#[test]
fn a_line_above_the_cap_is_an_error() {
    let long = assistant(&"x".repeat(17 * 1024 * 1024), "");
    assert_eq!(
        run(lines(&[INIT, &long]), options(false)).last()["data"]["code"],
        "LINE_TOO_LONG"
    );
    let fits = assistant(&"x".repeat(12 * 1024 * 1024), "");
    assert_eq!(
        run(lines(&[INIT, &fits, &result("")]), options(false))
            .text()
            .len(),
        12 * 1024 * 1024
    );
}

#[test]
fn every_shared_recording_replays_to_its_sidecar() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/cursor-streams");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/cursor-streams");
    let Some(folder) = [folder, other].into_iter().find(|folder| folder.is_dir()) else {
        return;
    };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            check_sidecar(&path);
            count += 1;
        }
    }
    assert!(count > 0);
}

fn check_sidecar(path: &Path) {
    let sidecar: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let expected = &sidecar["expected"];
    let stderr = sidecar["process"]["stderr"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let exit = sidecar["process"]["exit_code"].as_i64().map(|code| code as i32);
    let partial = sidecar["invocation"]["stream_partial_output"].as_bool().unwrap();
    let input = std::fs::read(path.with_extension("ndjson")).unwrap();
    let name = path.display();
    let replayed = run(
        &input,
        ReplayOptions {
            exit,
            stderr,
            ..options(partial)
        },
    );
    assert_eq!(
        replayed.text(),
        expected["assistant_text"].as_str().unwrap(),
        "{name}"
    );
    assert_eq!(replayed.last()["type"], expected["terminal"], "{name}");
    if let Some(order) = expected["forwarded_extended"].as_array() {
        assert_eq!(
            replayed.order(),
            order
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect::<Vec<_>>(),
            "{name}"
        );
    }
    if let Some(words) = expected["error_message_contains"].as_str() {
        assert!(
            replayed.last()["data"]["message"]
                .as_str()
                .unwrap()
                .contains(words),
            "{name}"
        );
    }
    let usage = replayed.events.iter().find(|event| event["type"] == "usage");
    for key in ["promptTokens", "completionTokens"] {
        assert_eq!(
            usage.map_or(&Value::Null, |event| &event["data"][key]),
            &expected["usage"][key],
            "{name}"
        );
    }
    let ends: Vec<&Value> = replayed
        .events
        .iter()
        .filter(|event| event["data"]["phase"] == "completed")
        .collect();
    for call in expected["tool_calls"].as_array().into_iter().flatten() {
        let end = ends
            .iter()
            .find(|end| end["data"]["callId"] == call["call_id"])
            .unwrap();
        for (ours, theirs) in [
            ("key", "key"),
            ("outcome", "outcome"),
            ("hint", "arg_hint"),
            ("name", "suggested_name"),
            ("exitCode", "exit_code"),
            ("isBackground", "is_background"),
        ] {
            assert_eq!(end["data"][ours], call[theirs], "{name}: {ours}");
        }
    }
}
