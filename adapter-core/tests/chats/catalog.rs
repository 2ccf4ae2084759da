//! Listing of chats, and selection of one.

use std::fs;

use adapter_core::cursor::chats::{ChatsError, ChatsRoot};

use crate::fixture::{CHAT_ID, chats_root, write_chat};

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
