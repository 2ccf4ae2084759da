//! The messages of a chat: their order, their texts, and their serialized form.

use adapter_core::cursor::chats::{Role, Source, chat_markdown, mark_chat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chat_store::{StoreBuilder, assistant, field, shell, user};
use crate::fixture::{CHAT_ID, roles_and_texts, two_turns, warnings, write_and_load};

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
    let json: Value = serde_json::from_str(&serde_json::to_string(&chat).unwrap()).unwrap();
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
