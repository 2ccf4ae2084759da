//! Chats that several tests begin with, and what they look at.

use std::fs;
use std::path::PathBuf;

use adapter_core::cursor::chats::{Chat, ChatsRoot, Role, load_chat, project_id};
use tempfile::TempDir;

use crate::chat_store::{StoreBuilder, assistant, shell, thinking, user};

pub(crate) const CHAT_ID: &str = "5b1f4bd6-6f0e-4f0a-9d3e-2f7b8a1c0d9e";

pub(crate) fn write_and_load(builder: &StoreBuilder) -> Chat {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("store.db");
    drop(builder.write(&path));
    load_chat(&path).unwrap()
}

pub(crate) fn roles_and_texts(chat: &Chat) -> Vec<(Role, &str)> {
    chat.messages
        .iter()
        .map(|message| (message.role, &*message.text))
        .collect()
}

pub(crate) fn warnings(chat: &Chat) -> Vec<String> {
    chat.warnings.iter().map(ToString::to_string).collect()
}

pub(crate) fn two_turns() -> StoreBuilder {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("first", "m1"), vec![thinking("hm", 12), assistant("one")]);
    builder.turn(
        user("second", "m2"),
        vec![shell("ls", "a.txt\n", 0), assistant("two")],
    );
    builder
}

/// A chats directory with one chat in each of two projects.
pub(crate) fn chats_root() -> (TempDir, ChatsRoot, PathBuf) {
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

pub(crate) fn write_chat(root: &ChatsRoot, project: &str, chat: &str) -> PathBuf {
    let dir = root.dir().join(project).join(chat);
    fs::create_dir_all(&dir).unwrap();
    let mut builder = StoreBuilder::new(chat);
    builder.turn(user("hello", "m1"), vec![assistant("hi")]);
    drop(builder.write(&dir.join("store.db")));
    dir.join("store.db")
}
