//! Parts that are missing or make no sense: a warning each, and the rest of the chat.

use std::fs;

use adapter_core::cursor::chats::{Role, Source, load_chat};
use serde_json::json;
use tempfile::TempDir;

use crate::chat_store::{StoreBuilder, assistant, field, user, varint_field};
use crate::fixture::{CHAT_ID, roles_and_texts, two_turns, warnings, write_and_load};

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
