//! The images and patches of a project that a question names go with it into a chat.

use cueme_tests::phone_fakes::{Fault, Slack, Telegram};
use cueme_tests::{Home, eventually};

use crate::desk::{Desk, PEOPLE, secret};
use crate::slack;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";
const PATCH: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n";
const PROMPT: &str =
    "It looks like ![after](after.png) with `change.patch`; see notes.txt and ../outside.png. Merge?";

fn ask_with_files(desk: &Desk) -> cueme_tests::Client {
    let files = [
        ("after.png", PNG),
        ("change.patch", PATCH.as_bytes()),
        ("notes.txt", b"secret" as &[u8]),
    ];
    let agent = desk.agent_with_files(&files);
    std::fs::write(desk.home.scratch().join("outside.png"), PNG).unwrap();
    desk.home.ask(&agent, PROMPT, None).0
}

#[test]
fn the_files_that_a_question_names_come_below_it_in_telegram_and_no_others() {
    let telegram = Telegram::start();
    telegram
        .faults()
        .add("sendDocument", &[Fault::Down, Fault::RateLimited(1)]);
    let desk = Desk::with_telegram(&telegram);
    let client = ask_with_files(&desk);
    let question = telegram.wait_for("It looks like");
    let files = eventually("both files", || {
        let messages = telegram.messages().into_iter();
        let files: Vec<_> = messages.filter(|message| message.file.is_some()).collect();
        (files.len() == 2).then_some(files)
    });
    assert!(files.iter().all(|file| file.reply_to == Some(question.id)));
    let files: Vec<(String, String)> = files.into_iter().filter_map(|file| file.file).collect();
    assert_eq!(files[0].0, "after.png");
    assert_eq!(files[0].1.as_bytes(), String::from_utf8_lossy(PNG).as_bytes());
    assert_eq!(files[1], ("change.patch".to_owned(), PATCH.to_owned()));
    client.kill();
}

#[test]
fn the_files_that_a_question_names_come_into_its_thread_in_slack() {
    let slack = Slack::start();
    let home = Home::new();
    let config = slack::section(&home, &slack);
    let desk = Desk::in_home(home, &config);
    let client = ask_with_files(&desk);
    let question = slack.wait_for("It looks like");
    let uploads = eventually("both files", || {
        let uploads = slack.uploads();
        (uploads.len() == 2).then_some(uploads)
    });
    assert!(uploads.iter().all(|(.., thread)| *thread == question.ts));
    let patch = &uploads[1];
    assert_eq!((patch.0.as_str(), patch.1.as_str()), ("change.patch", PATCH));
    client.kill();
}

#[test]
fn without_a_preview_and_for_an_approval_no_file_leaves_the_machine() {
    let telegram = Telegram::start();
    let home = Home::new();
    let token = secret(&home, "telegram", telegram.token());
    let section = telegram.section(&token, PEOPLE);
    let desk = Desk::in_home(home, &format!("{section}preview = false\n"));
    let client = ask_with_files(&desk);
    telegram.wait_for("Open the question to read and answer it.");
    let (last, _) = desk.ask("And this?", None);
    eventually("both questions", || {
        (telegram.messages().len() == 2).then_some(())
    });
    assert!(telegram.messages().iter().all(|message| message.file.is_none()));
    client.kill();
    last.kill();

    let telegram = Telegram::start();
    let mut desk = Desk::with_telegram(&telegram);
    desk.agent = desk.agent_with_files(&[("after.png", PNG)]);
    let (_hook, _) = desk.ask_approval("open after.png");
    telegram.wait_for("open after.png");
    let (last, _) = desk.ask("And this?", None);
    telegram.wait_for("And this?");
    assert!(telegram.messages().iter().all(|message| message.file.is_none()));
    last.kill();
}
