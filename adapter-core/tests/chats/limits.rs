//! Chats that are long, or are built to have no end.

use adapter_core::cursor::chats::chat_markdown;

use crate::chat_store::{StoreBuilder, assistant, field, shell, thinking, tool, user};
use crate::fixture::{CHAT_ID, warnings, write_and_load};

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
    assert!(serde_json::to_string(&chat).is_ok());
    assert!(chat_markdown(&chat).contains("Tool: Task"));
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
