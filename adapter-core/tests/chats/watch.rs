//! Being told of chats as they come, change and go.

use std::fs;
use std::sync::mpsc;
use std::time::Duration;

use adapter_core::cursor::chats::{Change, ChatEvent, ChatsRoot, load_chat, watch_chats};
use tempfile::TempDir;

use crate::chat_store::{StoreBuilder, assistant, user};
use crate::fixture::{chats_root, write_chat};

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
    write_chat(&root, "other-project", "other-chat");
    assert_eq!(
        next_event(&events).chat_id,
        "other-chat",
        "reading is not a change"
    );
    while events.recv_timeout(Duration::from_millis(600)).is_ok() {}

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
