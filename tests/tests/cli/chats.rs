//! `cueme chats`, run over stores written as Cursor writes them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use adapter_core::cursor::chats::project_id;
use serde_json::Value;

use crate::chat_store::{StoreBuilder, assistant, shell, user};
use cueme_tests::{Home, Run, Terminal, not_run_without};

const CHAT_ID: &str = "5b1f4bd6-6f0e-4f0a-9d3e-2f7b8a1c0d9e";

/// A Cursor directory of its own, with a project in it.
struct Cursor {
    home: Home,
}

impl Cursor {
    fn new() -> Self {
        let cursor = Self {
            home: Home::created(),
        };
        fs::create_dir_all(cursor.project()).unwrap();
        cursor
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn chats(&self) -> PathBuf {
        self.home.path().join("cursor/chats")
    }

    fn write(&self, builder: &StoreBuilder, chat_id: &str) -> PathBuf {
        let dir = self
            .chats()
            .join(project_id(&self.project()).unwrap())
            .join(chat_id);
        fs::create_dir_all(&dir).unwrap();
        let store = dir.join("store.db");
        drop(builder.write(&store));
        store
    }

    fn run(&self, words: &[&str]) -> Run {
        let output = self.command(words).output().unwrap();
        Run {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = self.home.command(words);
        command.env("CURSOR_CONFIG_DIR", self.home.path().join("cursor"));
        command
    }
}

fn two_turns() -> StoreBuilder {
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user("first", "m1"), vec![assistant("one")]);
    builder.turn(
        user("second", "m2"),
        vec![shell("ls", "a.txt\n", 0), assistant("two")],
    );
    builder
}

#[test]
fn a_chat_is_listed_and_shown_by_its_id() {
    let cursor = Cursor::new();
    cursor.write(&two_turns(), CHAT_ID);
    let listed = cursor.run(&["chats", "ls"]).expect(0);
    assert!(listed.stdout.contains(CHAT_ID), "{}", listed.stdout);
    let shown = cursor.run(&["chats", "show", CHAT_ID, "--json"]).expect(0);
    assert_eq!(shown.stdout.lines().count(), 1);
    let chat = shown.json();
    assert_eq!(chat["chat_id"], CHAT_ID);
    let said: Vec<(&str, &str)> = chat["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["text"].as_str().unwrap(),
            )
        })
        .filter(|(role, _)| *role != "tool")
        .collect();
    assert_eq!(
        said,
        [
            ("user", "first"),
            ("assistant", "one"),
            ("user", "second"),
            ("assistant", "two")
        ]
    );
    let markdown = cursor.run(&["chats", "show", CHAT_ID, "--markdown"]).expect(0);
    assert!(
        markdown.stdout.contains("a.txt") && markdown.stdout.contains("## User"),
        "{}",
        markdown.stdout
    );
}

#[test]
fn a_project_lists_its_own_chats_only() {
    let cursor = Cursor::new();
    cursor.write(&two_turns(), CHAT_ID);
    let other = cursor.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let count = |dir: &Path| {
        let listed = cursor.run(&["chats", "ls", "--json", "--project", dir.to_str().unwrap()]);
        listed.expect(0).json()["projects"].as_array().unwrap().len()
    };
    assert_eq!((count(&cursor.project()), count(&other)), (1, 0));
}

#[test]
fn a_store_is_shown_by_any_path_to_it() {
    let cursor = Cursor::new();
    let store = cursor.write(&two_turns(), CHAT_ID);
    let copy = cursor.home.path().join("kept.sqlite");
    fs::copy(&store, &copy).unwrap();
    for path in [store.as_path(), store.parent().unwrap(), &copy] {
        let shown = cursor.run(&["chats", "show", path.to_str().unwrap(), "--json"]);
        assert_eq!(shown.expect(0).json()["chat_id"], CHAT_ID, "{}", path.display());
    }
}

#[test]
fn a_chat_that_is_not_there_is_not_found() {
    let cursor = Cursor::new();
    let ended = cursor.run(&["chats", "show", CHAT_ID]).expect(1);
    assert!(ended.stderr.contains("cueme chats ls"), "{}", ended.stderr);
    cursor.run(&["chats", "show", "/nowhere/store.db"]).expect(1);
}

#[test]
fn a_file_that_is_no_chat_is_an_error_with_a_hint() {
    let cursor = Cursor::new();
    let file = cursor.home.path().join("notes.txt");
    fs::write(&file, "these are only words, and more of them than a header has").unwrap();
    let ended = cursor.run(&["chats", "show", file.to_str().unwrap()]).expect(74);
    assert!(ended.stderr.contains("not a SQLite database"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_root_that_is_missing_or_unreadable_is_a_warning_and_a_fresh_chat_is_not() {
    let cursor = Cursor::new();
    let show = |chat_id: &str| cursor.run(&["chats", "show", chat_id, "--json"]).expect(0).json();
    let mut missing = two_turns();
    missing.meta("latestRootBlobId", Value::String("ab".repeat(32)));
    cursor.write(&missing, "missing");
    let mut unreadable = two_turns();
    unreadable.root(&[0xff, 0xff, 0xff]);
    cursor.write(&unreadable, "unreadable");
    for chat_id in ["missing", "unreadable"] {
        let chat = show(chat_id);
        assert_eq!(chat["messages"].as_array().unwrap().len(), 0, "{chat_id}");
        assert_eq!(chat["warnings"].as_array().unwrap().len(), 1, "{chat_id}: {chat}");
    }
    let mut fresh = StoreBuilder::new("fresh");
    fresh.meta("latestRootBlobId", Value::String(String::new()));
    cursor.write(&fresh, "fresh");
    let chat = show("fresh");
    assert_eq!(chat["messages"].as_array().unwrap().len(), 0);
    assert_eq!(chat["warnings"].as_array().unwrap().len(), 0, "{chat}");
}

#[test]
fn without_any_chats_the_list_is_empty_and_says_where_it_looked() {
    let cursor = Cursor::new();
    let ended = cursor.run(&["chats", "ls"]).expect(0);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("cursor/chats"), "{}", ended.stderr);
}

#[test]
fn a_new_chat_is_told_to_whoever_watches() {
    let cursor = Cursor::new();
    fs::create_dir_all(cursor.chats()).unwrap();
    let mut command = cursor.command(&["chats", "watch"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut ready = String::new();
    said.read_line(&mut ready).unwrap();
    assert!(ready.starts_with("watching "), "{ready}");
    cursor.write(&two_turns(), CHAT_ID);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&event["change"], &event["chat_id"]),
        (&"created".into(), &CHAT_ID.into())
    );
}

#[test]
fn recorded_stores_are_shown_as_expected_where_there_are_any() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/cursor-chats");
    let Ok(expected) = fs::read(folder.join("expected.json")) else {
        return;
    };
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let cursor = Cursor::new();
    for (name, expected) in expected.as_object().unwrap() {
        let path = folder.join(name);
        let chat = cursor
            .run(&["chats", "show", path.to_str().unwrap(), "--json"])
            .expect(0)
            .json();
        assert_eq!(chat["chat_id"], expected["meta"]["agentId"], "{name}");
        let roles = |chat: &Value| -> Vec<String> {
            let messages = chat["messages"].as_array().unwrap();
            let role = |message: &Value| message["role"].as_str().unwrap().replace("user_shell", "user");
            messages.iter().map(role).collect()
        };
        assert_eq!(roles(&chat), roles(expected), "{name}");
        for (message, expected) in chat["messages"]
            .as_array()
            .unwrap()
            .iter()
            .zip(expected["messages"].as_array().unwrap())
        {
            if expected["text"].is_string() {
                assert_eq!(message["text"], expected["text"], "{name}");
            }
        }
    }
}

#[test]
fn a_chat_cannot_act_on_the_terminal() {
    if !Terminal::is_available() {
        return not_run_without("tmux");
    }
    let cursor = Cursor::new();
    let hostile = "run \u{202e}txt\u{200b}";
    let mut builder = StoreBuilder::new(CHAT_ID);
    builder.turn(user(hostile, "m1"), vec![assistant("one")]);
    cursor.write(builder.name(hostile), CHAT_ID);
    for words in [
        &["chats", "show", CHAT_ID][..],
        &["chats", "show", CHAT_ID, "--json"],
        &["chats", "ls"],
        &["chats", "ls", "--json"],
    ] {
        let mut command = cursor.command(words);
        let screen = Terminal::running(command.current_dir(cursor.project()));
        screen.sees("exit=0");
        let seen = screen.screen().replace('\n', "");
        let is_spelled_out =
            seen.contains("run <U+202E>txt<U+200B>") || seen.contains(r"run \u202etxt\u200b");
        assert!(is_spelled_out, "{words:?}: {seen}");
    }
}
