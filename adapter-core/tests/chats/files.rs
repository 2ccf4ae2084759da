//! The store as a file: written meanwhile, broken, linked or closed to us, and never changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use adapter_core::cursor::chats::{ChatsError, load_chat};
use tempfile::TempDir;

use crate::chat_store::{StoreBuilder, assistant, user};
use crate::fixture::{CHAT_ID, two_turns};

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
