//! Tool calls: which tool, how it ended, and what ran inside it.

use serde_json::json;

use crate::chat_store::{StoreBuilder, assistant, field, shell, thinking, tool, user, varint_field};
use crate::fixture::{CHAT_ID, warnings, write_and_load};

#[test]
fn every_kind_of_outcome_is_told_apart() {
    let rejected = [field(1, b"rm"), field(3, b"not allowed")].concat();
    let cases: [(Vec<u8>, &str, bool, &str); 7] = [
        (shell("true", "", 0), "success", false, ""),
        (shell("false", "oops", 1), "success", true, "oops"),
        (
            tool(1, b"", Some(&field(4, &rejected)), "c"),
            "rejected",
            true,
            "not allowed",
        ),
        (
            tool(8, b"", Some(&field(2, &field(1, b"no file"))), "c"),
            "error",
            true,
            "no file",
        ),
        (
            tool(8, b"", Some(&field(1, &field(1, b"text"))), "c"),
            "success",
            false,
            "text",
        ),
        (
            tool(12, b"", Some(&field(1, &field(5, b"+ a"))), "c"),
            "success",
            false,
            "+ a",
        ),
        (
            tool(
                15,
                b"",
                Some(&field(
                    1,
                    &[field(1, &field(1, &field(1, b"echo"))), varint_field(2, 1)].concat(),
                )),
                "c",
            ),
            "success",
            true,
            "echo",
        ),
    ];
    for (step, outcome, is_error, text) in cases {
        let mut builder = StoreBuilder::new(CHAT_ID);
        builder.turn(user("u", "m"), vec![step]);
        let chat = write_and_load(&builder);
        let tool = &chat.messages[1].tools[0];
        assert_eq!(
            (
                tool.detail().outcome.as_deref(),
                tool.detail().is_error,
                &*tool.result()
            ),
            (Some(outcome), is_error, text),
            "{tool:?}"
        );
    }
}

#[test]
fn a_call_without_a_result_has_no_outcome() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(
        user("u", "m"),
        vec![tool(8, &field(1, b"/w/a.txt"), None, "call_2")],
    );
    let chat = write_and_load(&builder);
    let tool = &chat.messages[1].tools[0];
    assert_eq!(
        (
            &*tool.name,
            tool.detail().outcome.as_deref(),
            tool.detail().is_error
        ),
        ("Read", None, false)
    );
    assert_eq!(tool.detail().args["path"], "/w/a.txt");
}

#[test]
fn a_tool_from_the_future_keeps_its_number_its_id_and_its_data() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(
        user("u", "m"),
        vec![tool(999, &field(4, b"payload"), None, "call\nid")],
    );
    let chat = write_and_load(&builder);
    let tool = &chat.messages[1].tools[0];
    assert_eq!(
        (&*tool.name, &*tool.key, tool.oneof_field),
        ("Unknown", "unknown", Some(999))
    );
    assert_eq!(tool.call_id.as_deref(), Some("call\nid"));
    assert_eq!(tool.detail().args, json!({"#4": "payload"}));
    assert!(chat.warnings.is_empty());
}

#[test]
fn data_beside_a_tools_kind_does_not_hide_the_kind() {
    let call = [
        varint_field(59, 1_790_000_000_000),
        field(54, b"hook context"),
        field(13, &field(1, &field(1, b"/w"))),
        field(57, b"call_9"),
    ];
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("u", "m"), vec![field(2, &call.concat())]);
    let chat = write_and_load(&builder);
    let tool = &chat.messages[1].tools[0];
    assert_eq!(
        (&*tool.name, tool.detail().args["path"].as_str()),
        ("Ls", Some("/w"))
    );
}

#[test]
fn a_sub_agents_steps_are_nested_in_the_tool_that_started_it() {
    let inner = tool(
        19,
        b"",
        Some(&field(1, &field(1, &assistant("innermost")))),
        "inner",
    );
    let success = [
        field(1, &thinking("deep", 1)),
        field(1, &inner),
        field(1, &assistant("found it")),
    ]
    .concat();
    let step = tool(19, &field(2, b"look around"), Some(&field(1, &success)), "outer");
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("u", "m"), vec![step]);
    let chat = write_and_load(&builder);
    let task = &chat.messages[1].tools[0];
    assert_eq!((&*task.name, &*task.result()), ("Task", "found it"));
    assert_eq!(task.steps.len(), 3);
    assert_eq!(task.steps[1].tools[0].steps[0].text, "innermost");
}

#[test]
fn a_truncated_call_is_followed_to_its_original_step() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    let original = builder.blob(shell("make", "built", 0));
    builder.turn(user("u", "m"), vec![field(2, &field(34, &field(1, &original)))]);
    builder.turn(user("u", "m"), vec![field(2, &field(34, &field(1, &[7; 32])))]);
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages[1].tools[0].result(), "built");
    assert_eq!(chat.messages[3].tools[0].name, "Truncated");
    assert_eq!(warnings(&chat).len(), 1, "the second original is gone");
}
