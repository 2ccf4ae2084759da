//! Chats read from stores written as Cursor writes them.
#![allow(clippy::unwrap_used, reason = "a test may end with a panic")]

mod chat_store;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use adapter_core::cursor::chats::{
    Change, Chat, ChatEvent, ChatsError, ChatsRoot, Role, Source, chat_json, chat_markdown, load_chat,
    mark_chat, project_id, watch_chats,
};
use chat_store::{StoreBuilder, assistant, field, shell, thinking, tool, user, varint_field};
use serde_json::{Value, json};
use tempfile::TempDir;

const CHAT_ID: &str = "5b1f4bd6-6f0e-4f0a-9d3e-2f7b8a1c0d9e";

fn write_and_load(builder: &StoreBuilder) -> Chat {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    drop(builder.write(&path));
    load_chat(&path).unwrap()
}

fn roles_and_texts(chat: &Chat) -> Vec<(Role, &str)> {
    chat.messages
        .iter()
        .map(|message| (message.role, &*message.text))
        .collect()
}

fn warnings(chat: &Chat) -> Vec<String> {
    chat.warnings.iter().map(ToString::to_string).collect()
}

fn two_turns() -> StoreBuilder {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("first", "m1"), vec![thinking("hm", 12), assistant("one")]);
    builder.turn(
        user("second", "m2"),
        vec![shell("ls", "a.txt\n", 0), assistant("two")],
    );
    builder
}

#[test]
fn messages_come_in_the_order_of_turns_and_not_of_rows() {
    let mut builder = two_turns();
    builder.shuffle();
    let chat = write_and_load(&builder);
    assert_eq!(
        roles_and_texts(&chat),
        [
            (Role::User, "first"),
            (Role::Thinking, "hm"),
            (Role::Assistant, "one"),
            (Role::User, "second"),
            (Role::Tool, ""),
            (Role::Assistant, "two"),
        ]
    );
    assert_eq!(chat.source, Source::Turns);
    assert!(chat.warnings.is_empty(), "{:?}", chat.warnings);
    assert_eq!(chat.messages[0].message_id.as_deref(), Some("m1"));
    assert_eq!(chat.messages[1].duration_ms, Some(12));
    assert_eq!(chat.messages[0].request_id.as_deref(), Some("req-1"));
    assert_eq!(
        chat.messages[0].original.as_ref().unwrap().data[..],
        user("first", "m1")
    );
}

#[test]
fn the_json_of_a_chat_has_the_documented_shape_and_no_secret() {
    let chat = write_and_load(&two_turns());
    let json: Value = serde_json::from_str(&chat_json(&chat).unwrap()).unwrap();
    assert_eq!(json["chat_id"], CHAT_ID);
    assert_eq!(json["name"], "A chat");
    assert_eq!(json["mode"], "default");
    assert_eq!(json["created_at"], 1_790_000_000_000_i64);
    assert_eq!(json["warnings"], json!([]));
    let call = &json["messages"][4];
    assert_eq!(call["role"], "tool");
    assert_eq!(call["tools"][0]["name"], "Bash");
    assert_eq!(call["tools"][0]["key"], "shellToolCall");
    assert_eq!(call["tools"][0]["args"]["command"], "ls");
    assert_eq!(call["tools"][0]["outcome"], "success");
    assert_eq!(call["tools"][0]["exit_code"], 0);
    assert_eq!(call["tools"][0]["result"], "a.txt\n");
    assert_eq!(call["tools"][0]["output"]["success"]["stdout"], "a.txt\n");
    assert!(
        !json.to_string().contains(&"f".repeat(64)),
        "the store's key must stay in the store"
    );
}

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
fn sub_agents_nested_without_end_stop_at_a_limit() {
    let mut step = assistant("bottom");
    for _ in 0..500 {
        step = tool(19, b"", Some(&field(1, &field(1, &step))), "t");
    }
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("u", "m"), vec![step]);
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages.len(), 2);
    assert!(chat_json(&chat).is_ok());
    assert!(chat_markdown(&chat).contains("Tool: Task"));
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

#[test]
fn commands_the_user_ran_are_the_users_messages_with_their_output() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.shell_turn("git status", "clean\n", "", 0);
    builder.shell_turn("false", "", "bad\n", 1);
    let chat = write_and_load(&builder);
    assert_eq!(
        roles_and_texts(&chat),
        [(Role::User, "git status"), (Role::User, "false")]
    );
    let (first, second) = (&chat.messages[0].tools[0], &chat.messages[1].tools[0]);
    assert_eq!(
        (&*first.name, &*first.result(), first.detail().exit_code),
        ("Bash", "clean\n", Some(0))
    );
    assert_eq!(
        (second.detail().outcome.as_deref(), &*second.result()),
        (Some("failure"), "bad\n")
    );
}

#[test]
fn a_long_text_is_read_from_its_own_blob() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    let long = "長い".repeat(50_000);
    let text = builder.blob(long.clone().into_bytes());
    builder.turn([field(1, b"preview"), field(18, &text)].concat(), vec![]);
    builder.turn([field(1, b"preview"), field(18, &[9; 32])].concat(), vec![]);
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages[0].text, *long);
    assert_eq!(
        chat.messages[1].text, "preview",
        "the preview stands in for a text that is gone"
    );
    assert!(warnings(&chat)[0].contains("turn 2, user message, text"));
}

#[test]
fn a_missing_part_is_a_warning_that_says_which() {
    let mut builder = two_turns();
    builder.drop_blob(&user("first", "m1"));
    builder.drop_blob(&assistant("two"));
    let chat = write_and_load(&builder);
    assert_eq!(
        roles_and_texts(&chat),
        [
            (Role::Thinking, "hm"),
            (Role::Assistant, "one"),
            (Role::User, "second"),
            (Role::Tool, "")
        ]
    );
    let warnings = warnings(&chat);
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings[0].starts_with("turn 1, user message: blob "),
        "{warnings:?}"
    );
    assert!(warnings[1].starts_with("turn 2, step 2: blob "), "{warnings:?}");
}

#[test]
fn a_part_that_makes_no_sense_is_a_warning_too() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.raw_turn(b"\xff\xff".to_vec());
    builder.raw_turn(field(7, b"a turn of a new kind"));
    builder.root_field(8, b"short");
    builder.turn(
        user("u", "m"),
        vec![
            b"\x0f".to_vec(),
            field(9, b"step of a new kind"),
            assistant("end"),
        ],
    );
    let chat = write_and_load(&builder);
    assert_eq!(
        roles_and_texts(&chat),
        [(Role::User, "u"), (Role::Assistant, "end")]
    );
    let warnings = warnings(&chat);
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    assert!(warnings[2].contains("its id has 5 bytes instead of 32"));
}

#[test]
fn a_fresh_chat_is_empty_without_a_warning() {
    let chat = write_and_load(&StoreBuilder::new(CHAT_ID));
    assert_eq!(
        (chat.messages.len(), chat.warnings.len(), chat.source),
        (0, 0, Source::Empty)
    );
    assert_eq!(chat.chat_id, CHAT_ID);
}

#[test]
fn a_root_that_is_missing_or_garbage_is_an_empty_chat_with_a_warning() {
    let missing = "ab".repeat(32);
    let mut builder = two_turns();
    builder.meta("latestRootBlobId", json!(missing));
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages.len(), 0);
    assert_eq!(warnings(&chat), [format!("root blob {missing} is missing")]);

    let mut varint_turns = varint_field(8, 3);
    varint_turns.extend(varint_field(1, 3));
    for garbage in [
        &b"garbage, not protobuf"[..],
        &[0xff; 40],
        &[0x42, 0x20, 1, 2],
        &varint_turns,
    ] {
        let mut builder = two_turns();
        builder.root(garbage);
        let chat = write_and_load(&builder);
        assert_eq!(chat.messages.len(), 0);
        let warnings = warnings(&chat);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("is unreadable: it is not"), "{warnings:?}");
    }
}

#[test]
fn metadata_is_read_as_hexadecimal_or_plain_json_and_its_loss_is_a_warning() {
    let dir = TempDir::new().unwrap();
    let plain = dir.path().join("plain.db");
    drop(two_turns().write_plain(&plain));
    assert_eq!(load_chat(&plain).unwrap().messages.len(), 6);

    for (name, value) in [("none", None), ("garbage", Some("not metadata"))] {
        let path = dir.path().join(name).join("store.db");
        fs::create_dir(path.parent().unwrap()).unwrap();
        let builder = two_turns();
        let (connection, _) = builder.write_blobs(&path);
        if let Some(value) = value {
            builder.write_meta(&connection, value);
        }
        drop(connection);
        let chat = load_chat(&path).unwrap();
        assert_eq!((chat.messages.len(), chat.warnings.len()), (0, 1));
        assert_eq!(chat.chat_id, name, "the directory's name stands in for the id");
    }
}

#[test]
fn the_prompt_is_read_when_there_are_no_turns() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.prompt(&json!({"role": "system", "content": "You are an agent."}));
    builder.prompt(&json!({"role": "user", "content": "<user_info>linux</user_info>"}));
    builder.prompt(&json!({"role": "user", "content": "<user_query>\nsummarise\n</user_query>"}));
    builder.prompt(&json!({"role": "assistant", "content": [{"type": "text", "text": "done"}]}));
    builder.shuffle();
    let chat = write_and_load(&builder);
    assert_eq!(chat.source, Source::Prompt);
    assert_eq!(
        roles_and_texts(&chat),
        [(Role::User, "summarise"), (Role::Assistant, "done")]
    );
}

#[test]
fn after_a_compaction_the_turns_win_over_the_summarised_prompt() {
    let mut builder = two_turns();
    builder.prompt(&json!({"role": "user", "content": "Summary of the conversation so far"}));
    let chat = write_and_load(&builder);
    assert_eq!((chat.source, chat.messages.len()), (Source::Turns, 6));
}

#[test]
fn a_prompt_message_that_is_not_json_is_a_warning() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    let broken = builder.blob(b"{\"role\":".to_vec());
    builder.root_field(1, &broken);
    builder.root_field(1, &[3; 32]);
    builder.prompt(&json!({"role": "assistant", "content": "still here"}));
    let chat = write_and_load(&builder);
    assert_eq!(roles_and_texts(&chat), [(Role::Assistant, "still here")]);
    assert_eq!(chat.warnings.len(), 2);
}

#[test]
fn ten_thousand_messages_are_all_there_and_in_order() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    for index in 0..2_500 {
        let steps = vec![
            thinking("hm", 1),
            shell("ls", "out", 0),
            assistant(&format!("answer {index}")),
        ];
        builder.turn(user(&format!("question {index}"), &format!("m{index}")), steps);
    }
    builder.shuffle();
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages.len(), 10_000);
    assert!(chat.warnings.is_empty());
    for (index, turn) in chat.messages.chunks(4).enumerate() {
        assert_eq!(turn[0].text, *format!("question {index}"));
        assert_eq!(turn[3].text, *format!("answer {index}"));
    }
}

#[test]
fn a_blob_named_again_and_again_cannot_make_a_chat_without_end() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    let user = builder.blob(user("u", "m"));
    let steps = field(2, &builder.blob(assistant("same"))).repeat(2_000);
    let turn = builder.blob(field(1, &[field(1, &user), steps].concat()));
    builder.root(&field(8, &turn).repeat(2_000));
    let chat = write_and_load(&builder);
    assert_eq!(chat.messages.len(), 1_000_000);
    assert!(warnings(&chat)[0].contains("everything after 1000000 messages"));
}

#[test]
fn warnings_are_counted_and_cut() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    for index in 0..300u32 {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&index.to_be_bytes());
        builder.root_field(8, &id);
    }
    let chat = write_and_load(&builder);
    assert_eq!(chat.warnings.len(), 101);
    assert_eq!(warnings(&chat)[100], "left out: further warnings");
}

#[test]
fn what_is_only_in_the_log_is_read_while_a_writer_has_the_store_open() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let writer = two_turns().write(&path);
    assert!(
        fs::metadata(dir.path().join("store.db-wal")).unwrap().len() > 0,
        "nothing was checkpointed"
    );
    assert_eq!(load_chat(&path).unwrap().messages.len(), 6);
    drop(writer);
}

#[test]
fn a_chat_read_during_writing_is_always_one_whole_state() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("question 0", "m0"), vec![assistant("answer 0")]);
    drop(builder.write(&path));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (path, stop) = (path.clone(), Arc::clone(&stop));
        move || {
            for index in 1.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (question, answer) = (format!("question {index}"), format!("answer {index}"));
                builder.turn(user(&question, "m"), vec![assistant(&answer)]);
                builder.write(&path);
            }
        }
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut longest = 0;
    while longest < 40 {
        assert!(Instant::now() < deadline, "only {longest} messages were seen");
        let chat = load_chat(&path).unwrap();
        assert!(chat.warnings.is_empty(), "{:?}", chat.warnings);
        assert_eq!(chat.messages.len() % 2, 0);
        assert!(
            chat.messages.len() >= longest,
            "a later read shows at least as much"
        );
        longest = chat.messages.len();
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

#[test]
fn files_that_are_no_chats_are_errors_that_say_what_they_are() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let text = file(
        "text.db",
        b"This is not a database, but it is long enough to be mistaken for one.",
    );
    assert!(matches!(load_chat(&text), Err(ChatsError::NotSqlite(_))));
    let empty = file("empty.db", b"");
    assert!(matches!(load_chat(&empty), Err(ChatsError::EmptyFile(_))));
    assert!(matches!(load_chat(dir.path()), Err(ChatsError::NotAFile(_))));
    let other = dir.path().join("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    assert!(matches!(load_chat(&other), Err(ChatsError::NotAChat(_))));
    let absent = load_chat(&dir.path().join("absent.db")).unwrap_err();
    assert!(matches!(absent, ChatsError::Io { .. }));
    assert!(absent.to_string().contains("absent.db"), "{absent}");
}

#[test]
fn a_truncated_store_is_an_error_or_a_chat_with_warnings_but_never_a_panic() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let mut builder = StoreBuilder::new(CHAT_ID);
    for index in 0..200 {
        builder.turn(
            user(&format!("question {index}"), "m"),
            vec![assistant(&"long answer ".repeat(40))],
        );
    }
    let connection = builder.write(&path);
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        .unwrap();
    drop(connection);
    let whole = fs::read(&path).unwrap();
    let whole_count = load_chat(&path).unwrap().messages.len();
    let mut told = 0;
    for keep in (0..whole.len()).step_by(1_777) {
        let cut = dir.path().join("cut.db");
        fs::write(&cut, &whole[..keep]).unwrap();
        match load_chat(&cut) {
            Err(error) => {
                assert!(error.to_string().contains("cut.db"), "{error}");
                told += 1;
            }
            Ok(chat) if chat.messages.len() < whole_count => {
                assert!(
                    !chat.warnings.is_empty(),
                    "{keep} of {} bytes, and not a word",
                    whole.len()
                );
                told += 1;
            }
            Ok(_) => {}
        }
    }
    assert!(told > 10, "{told}");
}

#[test]
fn flipped_bytes_never_panic() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    let connection = two_turns().write(&path);
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        .unwrap();
    drop(connection);
    let whole = fs::read(&path).unwrap();
    for position in (0..whole.len()).step_by(61) {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let _ = load_chat(&path);
    }
}

#[test]
fn a_link_is_followed_to_the_store_and_to_its_log() {
    let dir = TempDir::new().unwrap();
    let real = dir.path().join("real");
    fs::create_dir(&real).unwrap();
    let writer = two_turns().write(&real.join("store.db"));
    let link = dir.path().join("link.db");
    symlink(real.join("store.db"), &link).unwrap();
    assert_eq!(load_chat(&link).unwrap().messages.len(), 6);
    drop(writer);
    let circle = dir.path().join("circle.db");
    symlink(&circle, &circle).unwrap();
    assert!(matches!(load_chat(&circle), Err(ChatsError::Io { .. })));
    let dangling = dir.path().join("dangling.db");
    symlink(dir.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(load_chat(&dangling), Err(ChatsError::Io { .. })));
}

#[test]
fn a_store_without_read_permission_says_so() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    drop(two_turns().write(&path));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("not run: this user reads files whatever their permissions");
        return;
    }
    let error = load_chat(&path).unwrap_err();
    assert!(error.to_string().contains("ermission denied"), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn reading_leaves_the_store_byte_for_byte_as_it_was() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    drop(two_turns().write(&path));
    let before = fs::read(&path).unwrap();
    load_chat(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn markdown_cannot_be_broken_out_of_and_holds_no_terminal_codes() {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.meta("name", json!("Title\n# not a heading \u{1b}[31m"));
    builder.turn(
        user("u", "m"),
        vec![shell("echo", "```\n# escaped?\n````\n\u{1b}]0;title\u{7}", 0)],
    );
    let markdown = chat_markdown(&write_and_load(&builder));
    assert!(
        markdown.starts_with("# Title # not a heading [31m\n"),
        "{markdown}"
    );
    assert!(!markdown.contains('\u{1b}') && !markdown.contains('\u{7}'));
    assert!(markdown.contains("`````\n```\n# escaped?"), "{markdown}");
}

#[test]
fn a_chat_that_was_continued_is_told_from_one_that_began_anew() {
    let dir = TempDir::new().unwrap();
    let mark = |name: &str, builder: &StoreBuilder| {
        let path = dir.path().join(name);
        drop(builder.write(&path));
        mark_chat(&path).unwrap()
    };
    let before = mark("before", &two_turns());
    assert_eq!(before.turns(), 2);
    let mut longer = two_turns();
    longer.turn(user("third", "m3"), vec![assistant("three")]);
    assert!(before.is_continued_by(&mark("longer", &longer)));

    let mut anew = StoreBuilder::new(CHAT_ID);
    for words in ["third", "fourth", "fifth"] {
        anew.turn(user(words, "m"), vec![]);
    }
    assert!(!before.is_continued_by(&mark("anew", &anew)));
    assert!(!before.is_continued_by(&before), "nothing was added");

    // The agent's last turn is rewritten as it goes on; what the user said is not.
    let mut rewritten = StoreBuilder::new(CHAT_ID);
    rewritten.turn(user("first", "m1"), vec![assistant("one")]);
    rewritten.turn(user("second", "m2"), vec![assistant("two, and a half")]);
    rewritten.shell_turn("git status", "clean", "", 0);
    assert!(before.is_continued_by(&mark("rewritten", &rewritten)));

    let fresh = mark("fresh", &StoreBuilder::new(CHAT_ID));
    assert!(
        fresh.is_continued_by(&before),
        "a chat that was only created is continued by its first words"
    );
}

/// A chats directory with one chat in each of two projects.
fn chats_root() -> (TempDir, ChatsRoot, PathBuf) {
    let home = TempDir::new().unwrap();
    let cwd = home.path().join("project");
    fs::create_dir(&cwd).unwrap();
    let root = ChatsRoot::new(home.path().join("chats"));
    for (project, chat) in [
        (project_id(&cwd).unwrap(), CHAT_ID),
        ("0".repeat(32), "other-chat"),
    ] {
        write_chat(&root, &project, chat);
    }
    (home, root, cwd)
}

fn write_chat(root: &ChatsRoot, project: &str, chat: &str) -> PathBuf {
    let dir = root.dir().join(project).join(chat);
    fs::create_dir_all(&dir).unwrap();
    let mut builder = StoreBuilder::new(chat);
    builder.turn(user("hello", "m1"), vec![assistant("hi")]);
    drop(builder.write(&dir.join("store.db")));
    dir.join("store.db")
}

#[test]
fn chats_are_listed_by_project_and_what_cannot_be_read_is_said() {
    let (_home, root, cwd) = chats_root();
    let dir = root.dir().join("0".repeat(32));
    fs::write(
        dir.join("other-chat/meta.json"),
        r#"{"cwd":"/w/other","title":"t","isSubagent":true}"#,
    )
    .unwrap();
    fs::create_dir(dir.join("broken")).unwrap();
    fs::write(dir.join("broken/store.db"), "no").unwrap();
    fs::create_dir(dir.join("not-a-chat")).unwrap();
    let listing = root.list().unwrap();
    assert_eq!(listing.projects.len(), 2);
    assert_eq!(listing.warnings.len(), 1);
    let other = listing
        .projects
        .iter()
        .find(|project| project.cwd.is_some())
        .unwrap();
    assert_eq!(other.cwd.as_deref(), Some("/w/other"));
    assert_eq!(other.chats[0].chat_id, "other-chat");
    assert!(other.chats[0].is_subagent && other.chats[0].has_messages);
    let own = root.list_for(&cwd).unwrap();
    assert_eq!(own.projects.len(), 1);
    assert_eq!(own.projects[0].chats[0].chat_id, CHAT_ID);
}

#[test]
fn a_chats_directory_that_does_not_exist_has_no_chats() {
    let listing = ChatsRoot::new("/nonexistent/chats").list().unwrap();
    assert!(listing.projects.is_empty() && listing.warnings.is_empty());
}

#[test]
fn an_id_is_found_in_its_project_or_where_it_is_unique() {
    let (home, root, cwd) = chats_root();
    let found = root.find(CHAT_ID, Some(&cwd)).unwrap();
    assert_eq!(root.find(CHAT_ID, Some(home.path())).unwrap(), found);
    assert_eq!(root.find(CHAT_ID, None).unwrap(), found);
    assert!(matches!(
        root.find("nobody", None),
        Err(ChatsError::UnknownChat { .. })
    ));
    write_chat(&root, &"1".repeat(32), CHAT_ID);
    assert!(matches!(
        root.find(CHAT_ID, None),
        Err(ChatsError::AmbiguousChat { count: 2, .. })
    ));
    assert_eq!(
        root.find(CHAT_ID, Some(&cwd)).unwrap(),
        found,
        "the project decides"
    );
}

#[test]
fn words_mean_a_path_if_there_is_one_and_an_id_otherwise() {
    let (_home, root, _) = chats_root();
    let store = root.find("other-chat", None).unwrap();
    assert_eq!(root.resolve("other-chat", None).unwrap(), store);
    assert_eq!(root.resolve(store.to_str().unwrap(), None).unwrap(), store);
    assert_eq!(
        root.resolve(store.parent().unwrap().to_str().unwrap(), None)
            .unwrap(),
        store
    );
    assert!(matches!(
        root.resolve("/no/such/store.db", None),
        Err(ChatsError::Io { .. })
    ));
    assert!(root.resolve("../../etc/passwd-of-nobody", None).is_err());
}

fn next_event(events: &mpsc::Receiver<ChatEvent>) -> ChatEvent {
    events
        .recv_timeout(Duration::from_secs(20))
        .expect("no event arrived")
}

#[test]
fn a_watcher_tells_of_new_changed_and_removed_chats_once_each() {
    let (_home, root, _) = chats_root();
    let (sender, events) = mpsc::channel();
    let watcher = watch_chats(&root, move |event| sender.send(event).unwrap()).unwrap();
    let store = write_chat(&root, "new-project", "new-chat");
    let created = next_event(&events);
    assert_eq!(
        (created.change, created.chat_id.as_str()),
        (Change::Created, "new-chat")
    );
    assert_eq!(created.project_id, "new-project");
    // Creation may be seen half done; wait for the end of it.
    while events.recv_timeout(Duration::from_millis(600)).is_ok() {}

    load_chat(&store).unwrap();
    assert!(
        events.recv_timeout(Duration::from_millis(600)).is_err(),
        "reading is not a change"
    );

    let mut builder = StoreBuilder::new("new-chat");
    builder.turn(user("more", "m2"), vec![assistant("words")]);
    let writer = builder.write(&store);
    assert_eq!(next_event(&events).change, Change::Changed);
    drop(writer);
    while events.recv_timeout(Duration::from_millis(600)).is_ok() {}

    fs::remove_dir_all(store.parent().unwrap()).unwrap();
    let mut last = next_event(&events);
    while let Ok(event) = events.recv_timeout(Duration::from_millis(600)) {
        last = event;
    }
    assert_eq!(
        (last.change, last.chat_id.as_str()),
        (Change::Removed, "new-chat")
    );
    drop(watcher);
}

#[test]
fn a_watcher_waits_for_a_chats_directory_that_does_not_exist_yet() {
    let home = TempDir::new().unwrap();
    let root = ChatsRoot::new(home.path().join(".cursor/chats"));
    let (sender, events) = mpsc::channel();
    let _watcher = watch_chats(&root, move |event| sender.send(event).unwrap()).unwrap();
    write_chat(&root, "p", "first-chat");
    assert_eq!(next_event(&events).chat_id, "first-chat");
}

/// Also runs over the stores that are shared between projects, where they are checked out beside this one.
#[test]
fn shared_stores_load_to_what_is_expected_of_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/cursor-chats");
    let Ok(expected) = fs::read(dir.join("expected.json")) else {
        eprintln!("not run: there are no shared stores beside the project");
        return;
    };
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for (name, expected) in expected.as_object().unwrap() {
        let chat = load_chat(&dir.join(name)).unwrap();
        let json: Value = serde_json::from_str(&chat_json(&chat).unwrap()).unwrap();
        assert_eq!(json["chat_id"], expected["meta"]["agentId"]);
        assert_eq!(json["name"], expected["meta"]["name"]);
        assert_eq!(json["mode"], expected["meta"]["mode"]);
        assert_eq!(json["created_at"], expected["meta"]["createdAt"]);
        assert_eq!(json["warnings"], expected["warnings"]);
        let messages = json["messages"].as_array().unwrap();
        let wanted = expected["messages"].as_array().unwrap();
        assert_eq!(messages.len(), wanted.len());
        for (message, wanted) in messages.iter().zip(wanted) {
            check_shared_message(message, wanted);
        }
    }
}

fn check_shared_message(message: &Value, wanted: &Value) {
    let role = wanted["role"].as_str().unwrap();
    assert_eq!(message["role"], if role == "user_shell" { "user" } else { role });
    let tool = &message["tools"][0];
    for (key, value) in wanted.as_object().unwrap() {
        let found = match key.as_str() {
            "role" => continue,
            "text" | "message_id" => &message[key],
            "stdout" => &tool["output"]["success"]["stdout"],
            "command" | "path" => &tool["args"][key],
            "mcp" => {
                let args = &tool["args"];
                let found = json!({"name": args["name"], "provider": args["providerIdentifier"], "tool": args["toolName"]});
                assert_eq!(&found, value);
                continue;
            }
            _ => &tool[key],
        };
        assert_eq!(found, value, "{key} of {message}");
    }
}
