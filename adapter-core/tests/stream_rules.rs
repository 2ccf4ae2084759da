//! Each rule of the stream, held against the shapes that tempt a reader to break it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use adapter_core::contract::OutputFormat;
use adapter_core::cursor::cli::{NormaliserOptions, ReplayOptions, replay};
use serde_json::{Value, json};

/// One way to replay a stream.
#[derive(Clone, Default)]
struct How {
    partial: bool,
    format: OutputFormat,
    exit: Option<i32>,
    stderr: &'static str,
}

const WHOLE: How = How {
    partial: false,
    format: OutputFormat::StreamJson,
    exit: None,
    stderr: "",
};
const PARTIAL: How = How {
    partial: true,
    ..WHOLE
};

struct Replayed(Vec<Value>);

impl Replayed {
    fn text(&self) -> String {
        let contents = self
            .0
            .iter()
            .filter_map(|event| event["data"]["content"].as_str());
        contents.collect()
    }

    fn kinds(&self) -> Vec<&str> {
        self.0
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect()
    }

    fn code(&self) -> &str {
        self.0.last().unwrap()["data"]["code"].as_str().unwrap_or("done")
    }

    fn activities(&self) -> Vec<&Value> {
        let activities = self.0.iter().filter(|event| event["type"] == "activity");
        activities.map(|event| &event["data"]).collect()
    }
}

fn run(how: &How, input: impl AsRef<[u8]>) -> Replayed {
    let options = ReplayOptions {
        normaliser: NormaliserOptions {
            partial: how.partial,
            activity: true,
            details: false,
            format: how.format,
            registered: ["web_fetch", "exec"].map(str::to_owned).into(),
        },
        exit: how.exit,
        stderr: how.stderr.to_owned(),
    };
    let mut out = Vec::new();
    replay(input.as_ref(), &mut out, options).unwrap();
    let lines = String::from_utf8(out).unwrap();
    Replayed(
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn init() -> Value {
    json!({"type":"system","subtype":"init","session_id":"s","model":"M","cwd":"/w"})
}

fn delta(text: &str) -> Value {
    let mut line = at_end(text);
    line["timestamp_ms"] = json!(1);
    line
}

fn before_tool(text: &str) -> Value {
    let mut line = delta(text);
    line["model_call_id"] = json!("m");
    line
}

fn at_end(text: &str) -> Value {
    json!({"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":text}]},"session_id":"s"})
}

fn tool(subtype: &str, call: &str, object: Value) -> Value {
    json!({"type":"tool_call","subtype":subtype,"call_id":call,"tool_call":object})
}

fn shell(subtype: &str) -> Value {
    tool(
        subtype,
        "c",
        json!({"shellToolCall":{"args":{"command":"ls"},"result":{"success":{"exitCode":0}}}}),
    )
}

fn event(kind: &str, subtype: &str) -> Value {
    json!({"type":kind,"subtype":subtype})
}

fn result(text: &str) -> Value {
    json!({"type":"result","subtype":"success","is_error":false,"result":text,"session_id":"s"})
}

#[track_caller]
fn says(how: &How, stream: &[Value], text: &str) {
    let mut all = vec![init()];
    all.extend_from_slice(stream);
    let replayed = run(how, lines(&all));
    assert_eq!(replayed.text(), text);
    assert_eq!(replayed.kinds().last(), Some(&"done"));
}

#[test]
fn without_partial_output_all_three_shapes_are_new_text_even_when_they_repeat() {
    let stream = [
        before_tool("OK."),
        shell("started"),
        delta("OK."),
        at_end("OK."),
        at_end("OK."),
        result(""),
    ];
    says(&WHOLE, &stream, "OK.OK.OK.OK.");
}

#[test]
fn every_segment_is_re_sent_in_its_own_shape_and_said_once() {
    let stream = [
        delta("First"),
        delta(" part. "),
        before_tool("First part. "),
        shell("started"),
        shell("completed"),
        delta("Second. "),
        delta("Second. "),
        event("interaction_query", "request"),
        event("interaction_query", "response"),
        delta("Third"),
        delta(". "),
        delta("Third. "),
        event("retry", "starting"),
        event("connection", "reconnected"),
        delta("Last."),
        at_end("Last."),
        result("First part. Second. Third. Last."),
    ];
    says(&PARTIAL, &stream, "First part. Second. Third. Last.");
}

#[test]
fn a_whole_segment_that_was_never_streamed_is_new_also_in_partial_output() {
    let stream = [
        before_tool("One. "),
        shell("started"),
        at_end("Two."),
        result("One. Two."),
    ];
    says(&PARTIAL, &stream, "One. Two.");
}

#[test]
fn a_re_send_that_goes_further_than_its_deltas_adds_only_the_rest() {
    says(
        &PARTIAL,
        &[delta("über"), at_end("überall"), result("überall")],
        "überall",
    );
}

#[test]
fn words_that_repeat_are_told_from_words_that_are_re_sent() {
    says(
        &PARTIAL,
        &[
            delta("ha"),
            delta("ha"),
            delta("!"),
            at_end("haha!"),
            result("haha!"),
        ],
        "haha!",
    );
    says(
        &PARTIAL,
        &[delta("no "), delta("no "), at_end("no no "), result("no no ")],
        "no no ",
    );
    says(&PARTIAL, &[delta("ha"), delta("ha"), result("haha")], "haha");
    says(&PARTIAL, &[delta("ha"), delta("ha"), result("ha")], "ha");
    says(
        &PARTIAL,
        &[
            delta("ha"),
            delta("ha"),
            shell("started"),
            delta("!"),
            result("ha!"),
        ],
        "ha!",
    );
}

#[test]
fn the_same_sentence_before_two_tools_is_said_twice() {
    let step = |resend: bool| {
        let mut step = vec![delta("Checking. ")];
        step.extend(resend.then(|| before_tool("Checking. ")));
        step.extend([shell("started"), shell("completed")]);
        step
    };
    for resend in [true, false] {
        let stream = [
            step(resend),
            step(resend),
            vec![delta("OK."), at_end("OK."), result("")],
        ]
        .concat();
        says(&PARTIAL, &stream, "Checking. Checking. OK.");
    }
}

#[test]
fn thinking_and_unknown_lines_between_deltas_change_nothing() {
    let stream = [
        delta("a"),
        event("thinking", "delta"),
        json!({"type":"hologram","text":"never"}),
        json!({"no":"type"}),
        json!({"type":["odd"]}),
        event("system", "task_notification"),
        tool("progress", "c", json!({"shellToolCall":{}})),
        delta("b"),
        at_end("ab"),
        result("ab"),
    ];
    says(&PARTIAL, &stream, "ab");
}

#[test]
fn what_was_streamed_is_never_sent_again_with_the_result() {
    says(
        &PARTIAL,
        &[delta("streamed"), result("something else")],
        "streamed",
    );
    says(&WHOLE, &[result("only here")], "only here");
    says(
        &WHOLE,
        &[json!({"type":"result","subtype":"success","result":null})],
        "",
    );
}

#[test]
fn only_a_success_is_a_good_end() {
    let ends = [
        (
            json!({"type":"result","subtype":"success","is_error":true,"result":"Error: boom"}),
            "MODEL_ERROR",
        ),
        (
            json!({"type":"result","subtype":"error","is_error":false,"result":"boom"}),
            "MODEL_ERROR",
        ),
        (
            json!({"type":"result","subtype":"cancelled","result":""}),
            "MODEL_ERROR",
        ),
        (
            json!({"type":"result","subtype":"error_max_turns"}),
            "MODEL_ERROR",
        ),
        (
            json!({"type":"error","message":"You've hit your usage limit"}),
            "QUOTA_EXCEEDED",
        ),
        (
            json!({"type":"error","error":{"message":"Too many requests"}}),
            "RATE_LIMITED",
        ),
        (
            json!({"type":"error","error":"Not authenticated"}),
            "MODEL_AUTH_ERROR",
        ),
        (
            json!({"type":"error","data":{"code":"MY_CODE","message":"m"}}),
            "MY_CODE",
        ),
        (
            json!({"type":"system","subtype":"error","message":"database is locked"}),
            "DATABASE_LOCKED",
        ),
        (json!({"type":"result","result":"fine"}), "done"),
    ];
    for (end, code) in ends {
        let replayed = run(&WHOLE, lines(&[init(), end.clone(), result("late"), end.clone()]));
        assert_eq!(replayed.code(), code, "{end}");
        let ended = |kind: &&str| matches!(*kind, "done" | "error");
        assert_eq!(replayed.kinds().into_iter().filter(ended).count(), 1, "{end}");
    }
}

#[test]
fn usage_is_reported_where_it_was_and_never_invented() {
    let with = |usage: Value| {
        let mut end = result("x");
        end["usage"] = usage;
        let replayed = run(&WHOLE, lines(&[init(), end]));
        replayed
            .0
            .iter()
            .find(|event| event["type"] == "usage")
            .map(|event| event["data"].clone())
    };
    let full = json!({"inputTokens":6,"outputTokens":"258","cacheReadTokens":"19705","cacheWriteTokens":0,"future":{}});
    let expected =
        json!({"promptTokens":6,"completionTokens":258,"cacheReadTokens":19705,"cacheWriteTokens":0});
    assert_eq!(with(full), Some(expected));
    let zero = json!({"promptTokens":0,"completionTokens":0});
    assert_eq!(with(json!({"inputTokens":0,"outputTokens":0})), Some(zero));
    for nothing in [json!(null), json!({}), json!("many"), json!([1])] {
        assert_eq!(with(nothing.clone()), None, "{nothing}");
    }
}

#[test]
fn a_tool_is_found_described_and_ended_whatever_its_line_leaves_out() {
    let stream = [
        init(),
        // The arguments are known only at the end.
        tool(
            "started",
            "a\nb",
            json!({"toolCallId":"a\nb","shellToolCall":{"args":{}}}),
        ),
        tool(
            "completed",
            "a\nb",
            json!({"completedAtMs":"2","shellToolCall":{"args":{"command":"ls"},"result":{"isBackground":true,"success":{"exitCode":"0"}}}}),
        ),
        // No start, no arguments, no known kind.
        tool(
            "completed",
            "d",
            json!({"futureToolCall":{"result":{"error":{"errorMessage":"gone"}}}}),
        ),
        // The id only inside.
        json!({"type":"tool_call","subtype":"started","tool_call":{"toolCallId":"e","readToolCall":{"args":{"path":"/a"}}}}),
        json!({"type":"tool_call","subtype":"completed","tool_call":{"toolCallId":"e","readToolCall":{"result":{"success":{}}}}}),
        // The legacy shape, whose arguments are text.
        tool(
            "started",
            "f",
            json!({"function":{"name":"read_file","arguments":"{\"path\":\"/b\"}"}}),
        ),
        tool(
            "completed",
            "f",
            json!({"function":{"name":"read_file","result":{"success":{}}}}),
        ),
        result("x"),
    ];
    let replayed = run(&WHOLE, lines(&stream));
    let seen: Vec<_> = replayed
        .activities()
        .into_iter()
        .map(|step| {
            let field = |name: &str| step[name].as_str().unwrap_or("-").to_owned();
            [
                field("callId"),
                field("phase"),
                field("name"),
                field("hint"),
                field("outcome"),
            ]
            .join(" ")
        })
        .collect();
    let expected = [
        "a\nb started Bash - -",
        "a\nb completed Bash ls success",
        "d completed Unknown - error",
        "e started Read /a -",
        "e completed Read /a success",
        "f started read_file /b -",
        "f completed read_file /b success",
    ];
    assert_eq!(seen, expected);
    assert_eq!(replayed.activities()[1]["isBackground"], true);
    assert_eq!(replayed.activities()[2]["reason"], "gone");
}

#[test]
fn a_nested_call_of_a_registered_tool_is_forwarded_once_and_others_are_not() {
    let stream = [
        init(),
        tool(
            "started",
            "a",
            json!({"name":"web_fetch","arguments":{"url":"u"}}),
        ),
        tool(
            "started",
            "a",
            json!({"name":"web_fetch","arguments":{"url":"u"}}),
        ),
        tool(
            "completed",
            "a",
            json!({"name":"web_fetch","arguments":{"url":"u"}}),
        ),
        json!({"type":"tool_call","tool_call":{"function":{"name":"exec","arguments":"{\"command\":\"pwd\"}"}}}),
        json!({"type":"tool_call","data":{"name":"exec"}}),
        json!({"type":"tool_call","data":{"name":"rm_rf","args":{}}}),
        json!({"type":"tool_call","tool_call":{"name":"rm_rf","args":{}}}),
        result("x"),
    ];
    let replayed = run(&WHOLE, lines(&stream));
    let calls: Vec<_> = replayed
        .0
        .iter()
        .filter(|event| event["type"] == "tool_call")
        .collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1]["data"], json!({"name":"exec","args":{"command":"pwd"}}));
    assert_eq!(calls[2]["data"], json!({"name":"exec","args":{}}));
}

#[test]
fn events_of_the_contract_that_say_nothing_fail_closed() {
    let bad = [
        json!({"type":"assistant_delta","data":{}}),
        json!({"type":"assistant_delta","data":{"content":7}}),
        json!({"type":"assistant_delta"}),
        json!({"type":"tool_call","data":{"args":{}}}),
        json!({"type":"tool_call","data":{"name":"exec","args":"not json"}}),
        json!({"type":"tool_call","data":["exec",{"command":"pwd"}]}),
        json!({"type":"usage","data":{"promptTokens":"many"}}),
        json!({"type":"usage"}),
        json!({"type":"protocol","data":{"version":"2.0"}}),
        json!({"type":"protocol","data":{"version":{"major":1}}}),
    ];
    for line in bad {
        assert_eq!(
            run(&WHOLE, lines(&[line.clone(), result("x")])).code(),
            "PROTOCOL_ERROR",
            "{line}"
        );
    }
    for version in [
        json!({"version":"1.0"}),
        json!({"version":1.0}),
        json!({"version":1}),
        json!({}),
    ] {
        let line = json!({"type":"protocol","data":version});
        assert_eq!(
            run(&WHOLE, lines(&[line.clone(), result("x")])).code(),
            "done",
            "{line}"
        );
    }
}

#[test]
fn half_a_character_does_not_end_a_turn() {
    let cut =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\ud83d b \ud83d\ude42"}]}}"#;
    let replayed = run(&WHOLE, format!("{cut}\n{}\n", result("x")));
    assert_eq!(replayed.text(), "a\u{fffd} b 🙂");
}

#[test]
fn the_depth_of_a_tool_s_result_does_not_matter() {
    let deep = format!("{}1{}", r#"{"a":["#.repeat(2_000), "]}".repeat(2_000));
    let line = format!(
        r#"{{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{{"readToolCall":{{"args":{deep},"result":{{"success":{{"x":{deep}}}}}}}}}}}"#
    );
    assert_eq!(run(&WHOLE, format!("{line}\n{}\n", result("x"))).code(), "done");
}

#[test]
fn a_stream_that_stops_is_judged_by_where_it_stopped() {
    let said = lines(&[init(), at_end("said")]);
    let failed = |exit, stderr| How {
        exit: Some(exit),
        stderr,
        ..WHOLE
    };
    let cases = [
        (WHOLE, said.clone(), "done"),
        (WHOLE, format!("{said}{{\"type\":\"res"), "STREAM_TRUNCATED"),
        (WHOLE, format!("{said}{{\"type\":\"user\"}}"), "done"),
        (
            failed(1, "Error: database is locked"),
            format!("{said}{{\"ty"),
            "DATABASE_LOCKED",
        ),
        (failed(1, ""), said.clone(), "CLI_EXIT"),
        (failed(137, ""), said.clone(), "CLI_EXIT"),
        (
            failed(1, "noise"),
            format!("{said}Cannot use this model: x\n"),
            "MODEL_NOT_FOUND",
        ),
        (failed(1, "noise"), lines(&[init(), result("x")]), "done"),
        (WHOLE, lines(&[init()]), "NO_OUTPUT"),
        (WHOLE, "Not logged in\n".to_owned(), "MODEL_AUTH_ERROR"),
        (WHOLE, String::new(), "NO_OUTPUT"),
        (WHOLE, "\n\r\n  \n".to_owned(), "NO_OUTPUT"),
        (failed(127, ""), String::new(), "COMMAND_NOT_FOUND"),
        (
            WHOLE,
            "__JSON_START__\n{\"type\":\"done\"}\n".to_owned(),
            "STREAM_TRUNCATED",
        ),
        (
            WHOLE,
            "__JSON_START__\n{oops\n__JSON_END__\n".to_owned(),
            "PROTOCOL_ERROR",
        ),
    ];
    for (how, input, code) in cases {
        assert_eq!(run(&how, &input).code(), code, "{input:?}");
    }
}

#[test]
fn words_on_stdout_are_never_the_assistant_s_in_any_position() {
    let mut input = b"\xff\xfe broken bytes\n[warn] array-like\n\"quoted\"\n".to_vec();
    input.extend(lines(&[init(), at_end("mine")]).bytes());
    input.extend(b"  Update available  \r\nstdout: not json\nstdout: ");
    input.extend(lines(&[result("mine")]).bytes());
    let replayed = run(&WHOLE, input);
    assert_eq!((replayed.text().as_str(), replayed.code()), ("mine", "done"));
}

#[test]
fn a_document_is_read_among_notices_and_its_end_is_needed() {
    let json = How {
        format: OutputFormat::Json,
        ..WHOLE
    };
    let pretty = serde_json::to_string_pretty(&result("6")).unwrap();
    let cases = [
        (format!("Update available\n{pretty}\nGood bye\n"), "done", "6"),
        (pretty.clone(), "done", "6"),
        (pretty[..pretty.len() - 2].to_owned(), "STREAM_TRUNCATED", ""),
        (format!("{{oops\n{pretty}"), "PROTOCOL_ERROR", ""),
        ("Not logged in\n".to_owned(), "MODEL_AUTH_ERROR", ""),
        (String::new(), "NO_OUTPUT", ""),
    ];
    for (input, code, text) in cases {
        let replayed = run(&json, &input);
        assert_eq!(
            (replayed.code(), replayed.text().as_str()),
            (code, text),
            "{input:?}"
        );
    }
}

#[test]
fn plain_text_is_the_answer_without_its_last_line_break() {
    let text = How {
        format: OutputFormat::Text,
        ..WHOLE
    };
    assert_eq!(run(&text, "2 + 2 = 4\n\nYes.\n").text(), "2 + 2 = 4\n\nYes.");
    assert_eq!(run(&text, "\n").code(), "NO_OUTPUT");
    assert_eq!(run(&text, b"caf\xc3").code(), "STREAM_TRUNCATED");
    assert_eq!(run(&text, b"caf\xff\n").code(), "PROTOCOL_ERROR");
    let failed = How {
        exit: Some(1),
        stderr: "Error: Not authenticated",
        ..text
    };
    assert_eq!(run(&failed, "").code(), "MODEL_AUTH_ERROR");
}
