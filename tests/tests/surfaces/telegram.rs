//! Telegram, against a stand-in of its Bot API.

use cueme_tests::eventually;
use cueme_tests::phone_fakes::{Fault, Telegram, TelegramMessage};
use serde_json::json;

use crate::desk::{ADA, Desk, PEOPLE, STRANGER, secret, soon};

fn labels(message: &TelegramMessage) -> Vec<&str> {
    message.buttons.iter().map(|(label, _)| label.as_str()).collect()
}

#[test]
fn a_confirm_is_answered_by_a_button_with_the_persons_name_and_the_message_says_so() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let payload = json!({ "type": "confirm", "confirm_label": "Ship it", "cancel_label": "Wait" });
    let (client, cue) = desk.ask("Release 1.2 now?", Some(&payload));
    let message = telegram.wait_for("Release 1.2 now?");
    assert_eq!(labels(&message), ["Ship it", "Wait"]);
    let press = telegram.press(ADA, message.id, "Ship it");
    assert_eq!(telegram.toast(&press), "Sent.");
    assert!(client.finish().printed(0).contains("Ship it"));
    assert_eq!(desk.home.show(&cue)["by"], "Ada");
    let closed = telegram.wait_for("Answered by Ada: Ship it");
    assert_eq!((closed.id, closed.buttons.len()), (message.id, 0));
}

#[test]
fn choices_pauses_and_free_words_are_answered_in_the_chat() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let one = json!({ "type": "choice", "options": ["red", "blue"] });
    let (client, _) = desk.ask("Which colour?", Some(&one));
    let message = telegram.wait_for("Which colour?");
    assert_eq!(labels(&message), ["1. red", "2. blue"]);
    telegram.press(ADA, message.id, "blue");
    assert!(client.finish().printed(0).contains("blue"));

    let many = json!({ "type": "choice", "options": ["lint", "test", "ship"], "allow_multiple": true });
    let (client, _) = desk.ask("Which steps?", Some(&many));
    let id = telegram.wait_for("Which steps?").id;
    let empty = telegram.press(ADA, id, "Send");
    assert_eq!(telegram.toast(&empty), "Choose something first.");
    for (step, marks) in [
        ("lint", "☑ 1. lint"),
        ("ship", "☑ 3. ship"),
        ("lint", "☐ 1. lint"),
        ("test", "☑ 2. test"),
    ] {
        telegram.press(ADA, id, step);
        eventually(marks, || {
            let message = telegram.messages().into_iter().find(|message| message.id == id)?;
            labels(&message).contains(&marks).then_some(())
        });
    }
    telegram.press(ADA, id, "Send");
    let printed = client.finish();
    assert!(printed.printed(0).contains("test\nship"), "{printed:?}");

    let (client, cue) = desk.ask("What should the button say?", None);
    let message = telegram.wait_for("What should the button say?");
    assert!(message.buttons.is_empty());
    telegram.reply(ADA, None, "Lunch, anyone?");
    telegram.reply(ADA, Some(message.id), "“Buy now”, please");
    assert!(client.finish().printed(0).contains("“Buy now”, please"));
    telegram.wait_for("Answered by Ada: “Buy now”, please");
    desk.keeps(0);
    telegram.reply(ADA, Some(message.id), "and green");
    telegram.wait_for("Reply to the message of an open question");
    assert_eq!(desk.home.show(&cue)["by"], "Ada");
}

#[test]
fn a_question_answered_elsewhere_is_withdrawn_within_two_seconds_and_says_by_whom() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let (client, cue) = desk.ask("Go on?", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Go on?");
    let (_, late) = message.buttons[0].clone();
    desk.home.ok(&["answer", &cue, "no"]);
    soon("the message is edited", || {
        let now = telegram.messages().into_iter().find(|now| now.id == message.id)?;
        (now.text.contains("Answered by") && now.buttons.is_empty()).then_some(())
    });
    client.finish();
    // Somebody whose screen was slow presses anyway.
    let press = telegram.press_data(ADA, message.id, &late);
    assert!(telegram.toast(&press).starts_with("Answered by"));
    assert_eq!(
        (&desk.home.show(&cue)["by"], &desk.home.show(&cue)["text"]),
        (&json!("tester"), &json!("no"))
    );
}

#[test]
fn nothing_happens_when_somebody_presses_or_replies_who_is_not_configured_and_the_log_says_who() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let (client, cue) = desk.ask("Delete it all?", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Delete it all?");
    let press = telegram.press(STRANGER, message.id, &message.buttons[0].0);
    assert_eq!(telegram.toast(&press), "You cannot answer here.");
    telegram.reply(STRANGER, Some(message.id), "yes");
    telegram.wait_until_heard();
    assert!(desk.is_open(&cue));
    assert_eq!(telegram.messages().len(), 1, "a stranger is not spoken to");
    let log = desk.home.log();
    assert!(
        log.contains("\"666\"") && log.contains("mallory") && log.contains("not configured"),
        "{log}"
    );
    assert!(!log.contains(telegram.token()), "the log has the token");
    client.kill();
}

#[test]
fn an_approval_that_does_not_fit_comes_as_a_file_and_takes_no_yes() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let (_hook, short) = desk.ask_approval("rm -rf target @channel");
    let message = telegram.wait_for("rm -rf target @channel");
    assert_eq!(
        (message.buttons.len(), &message.entities[0]["type"]),
        (2, &json!("pre"))
    );
    telegram.press(ADA, message.id, &message.buttons[0].0);
    assert_eq!(desk.decided(&short)["answer"]["reply"]["confirmed"], true);

    let script: String = (0..600)
        .map(|line| format!("echo {line}; # \u{202e}x\n"))
        .collect();
    let (_hook, long) = desk.ask_approval(&script);
    let message = telegram.wait_for("characters are not shown here");
    assert!(
        message.buttons.is_empty() && message.text.contains("/#/cue/"),
        "{}",
        message.text
    );
    let file = eventually("the file", || {
        telegram.messages().into_iter().find_map(|sent| sent.file)
    });
    assert_eq!(file.1, script.replace('\u{202e}', "⟨U+202E⟩"));
    telegram.reply(ADA, Some(message.id), "yes");
    telegram.wait_for("not shown whole here");
    assert!(desk.is_open(&long));
    telegram.reply(ADA, Some(message.id), "no");
    assert_eq!(desk.decided(&long)["answer"]["reply"]["confirmed"], false);

    let (_hook, third) = desk.ask_approval("cargo publish");
    let message = telegram.wait_for("cargo publish");
    telegram.reply(ADA, Some(message.id), "sure, go ahead");
    assert_eq!(desk.decided(&third)["answer"]["text"], "sure, go ahead");
    let said = telegram.wait_for("they refuse the request");
    assert!(said.reply_to.is_some(), "{said:?}");
}

#[test]
fn a_broker_that_was_killed_edits_the_right_message_and_sends_none_twice() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let (first, one) = desk.ask("First?", None);
    let (second, two) = desk.ask("Second?", Some(&json!({ "type": "confirm" })));
    let (first_message, second_message) = (telegram.wait_for("First?"), telegram.wait_for("Second?"));
    desk.keeps(2);
    desk.home.kill_broker();
    // The human presses the button while no broker runs.
    telegram.press(ADA, second_message.id, &second_message.buttons[0].0);
    desk.home.ok(&["answer", &one, "done"]);
    assert_eq!(desk.decided(&two)["by"], "Ada");
    for (message, end) in [(&first_message, "done"), (&second_message, "by Ada")] {
        eventually("the message is edited", || {
            let now = telegram.messages().into_iter().find(|now| now.id == message.id)?;
            now.text.contains(end).then_some(())
        });
    }
    assert_eq!(telegram.messages().len(), 2, "nothing is sent twice");
    first.kill();
    second.kill();
}

#[test]
fn rate_limits_outages_repeats_and_disorder_lead_to_one_message_and_one_decision() {
    let telegram = Telegram::start();
    telegram
        .faults()
        .add("sendMessage", &[Fault::Down, Fault::RateLimited(1), Fault::Down]);
    telegram
        .faults()
        .add("getUpdates", &[Fault::Down, Fault::RateLimited(1)]);
    telegram
        .faults()
        .add("editMessageText", &[Fault::RateLimited(1), Fault::Down]);
    telegram.repeat_and_reorder();
    let desk = Desk::with_telegram(&telegram);
    let (client, cue) = desk.ask("Through the storm?", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Through the storm?");
    telegram.press(ADA, message.id, &message.buttons[0].0);
    telegram.press(ADA, message.id, &message.buttons[1].0);
    client.finish().printed(0);
    assert_eq!(
        desk.home.show(&cue)["answer"]["reply"]["confirmed"],
        true,
        "the first press counts"
    );
    telegram.wait_for("Answered by Ada");
    assert_eq!(telegram.messages().len(), 1);
    assert!(telegram.faults().are_over("editMessageText"));
}

#[test]
fn a_file_in_a_reply_reaches_the_agent() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let (client, cue) = desk.ask("Send me the mock", None);
    let message = telegram.wait_for("Send me the mock");
    telegram.reply_with_file(ADA, message.id, "../mock.txt", b"a drawing", "here it is");
    let printed = client.finish();
    assert!(printed.printed(0).contains("here it is"), "{printed:?}");
    let attachment = desk.home.show(&cue)["answer"]["attachments"][0].clone();
    assert_eq!(attachment["name"], "mock.txt");
    assert_eq!(
        std::fs::read(attachment["path"].as_str().unwrap()).unwrap(),
        b"a drawing"
    );
}

#[test]
fn a_channel_that_changes_is_used_at_once_and_words_stay_here_without_a_preview() {
    let telegram = Telegram::start();
    let home = cueme_tests::Home::new();
    let token = secret(&home, "telegram", telegram.token());
    let desk = Desk::in_home(home, "");
    let section = telegram.section(&token, PEOPLE);
    desk.home.configure(&format!("{section}preview = false\n"));
    eventually("the bot listens", || (telegram.polls() > 0).then_some(()));
    let (client, cue) = desk.ask("The password is swordfish", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Open the question to read and answer it.");
    assert!(!message.text.contains("swordfish") && message.buttons.is_empty());
    let late = format!("{cue}:y");
    telegram.press_data(ADA, message.id, &late);
    telegram.wait_until_heard();
    assert!(desk.is_open(&cue), "a button that is not there takes no yes");
    desk.home.ok(&["answer", &cue, "no, marlin"]);
    let closed = telegram.wait_for("Answered by");
    assert_eq!(closed.id, message.id);
    let press = telegram.press_data(ADA, message.id, &late);
    for text in [&closed.text, &telegram.toast(&press)] {
        assert!(text.contains("Answered by") && !text.contains("marlin"), "{text}");
    }
    client.kill();
}

#[test]
fn an_approval_with_options_that_does_not_fit_takes_none_of_them() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let options = json!({ "type": "choice", "options": ["Allow (once)", "Allow (always)", "Reject"] });
    let (_hook, short) = desk.ask_approval_with("rm -rf target", &options);
    let message = telegram.wait_for("rm -rf target");
    telegram.press(ADA, message.id, "once");
    assert_eq!(desk.decided(&short)["text"], "Allow (once)");

    let script = "echo x;\n".repeat(600);
    let (_hook, long) = desk.ask_approval_with(&script, &options);
    let message = telegram.wait_for("characters are not shown here");
    assert!(message.buttons.is_empty(), "{:?}", message.buttons);
    telegram.reply(ADA, Some(message.id), "1");
    telegram.wait_for("not shown whole here");
    let forged = telegram.press_data(ADA, message.id, &format!("{long}:0"));
    assert!(telegram.toast(&forged).contains("not shown whole here"));
    assert!(desk.is_open(&long));
}

#[test]
fn a_press_counts_only_below_the_message_of_its_question() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let confirm = json!({ "type": "confirm" });
    let (first, harmless) = desk.ask("List the files?", Some(&confirm));
    let (second, harmful) = desk.ask("Delete the files?", Some(&confirm));
    let (harmless_message, harmful_message) = (
        telegram.wait_for("List the files?"),
        telegram.wait_for("Delete the files?"),
    );
    let (_, yes) = harmful_message.buttons[0].clone();
    let forged = telegram.press_data(ADA, harmless_message.id, &yes);
    telegram.toast(&forged);
    assert!(desk.is_open(&harmless) && desk.is_open(&harmful));
    telegram.press(ADA, harmful_message.id, "Cancel");
    assert_eq!(desk.decided(&harmful)["answer"]["reply"]["confirmed"], false);
    first.kill();
    second.kill();
}

#[test]
fn marks_that_changed_after_the_person_looked_are_not_sent() {
    let telegram = Telegram::start();
    let desk = Desk::with_telegram(&telegram);
    let many = json!({ "type": "choice", "options": ["build", "erase"], "allow_multiple": true });
    let (client, cue) = desk.ask("Which steps?", Some(&many));
    let id = telegram.wait_for("Which steps?").id;
    let marks = |label: &str| {
        eventually(label, || {
            let message = telegram.messages().into_iter().find(|message| message.id == id)?;
            labels(&message).contains(&label).then_some(message)
        })
    };
    telegram.press(ADA, id, "build");
    let (_, seen) = marks("☑ 1. build").buttons[2].clone();
    telegram.press(ADA, id, "erase");
    marks("☑ 2. erase");
    // Pressed below the old marks, on a phone that is slow.
    let late = telegram.press_data(ADA, id, &seen);
    assert!(
        telegram.toast(&late).contains("have changed"),
        "{}",
        telegram.toast(&late)
    );
    assert!(desk.is_open(&cue));
    telegram.press(ADA, id, "erase");
    marks("☐ 2. erase");
    telegram.press(ADA, id, "Send");
    client.finish().printed(0);
    assert_eq!(desk.home.show(&cue)["text"], "build");
}

#[test]
fn another_bot_under_the_same_name_answers_its_own_questions_alone() {
    let (telegram, other) = (Telegram::start(), Telegram::start_other());
    let desk = Desk::with_telegram(&telegram);
    for round in 0..3 {
        let (client, _) = desk.ask(&format!("Round {round}?"), Some(&json!({ "type": "confirm" })));
        let message = telegram.wait_for(&format!("Round {round}?"));
        telegram.press(ADA, message.id, &message.buttons[0].0);
        client.finish().printed(0);
    }
    let (first, old) = desk.ask("Erase the disk?", Some(&json!({ "type": "confirm" })));
    let old_message = telegram.wait_for("Erase the disk?");
    // The first bot has read further than the second one counts yet.
    for _ in 0..50 {
        telegram.reply(ADA, None, "Lunch, anyone?");
    }
    telegram.wait_until_heard();
    let token = secret(&desk.home, "other", other.token());
    desk.home.configure(&other.section(&token, PEOPLE));
    eventually("the other bot listens", || (other.polls() > 0).then_some(()));
    other.skip_to_message(old_message.id);
    let (second, new) = desk.ask("List the files?", None);
    let new_message = other.wait_for("List the files?");
    assert_eq!(new_message.id, old_message.id, "the number means two messages");
    other.reply(ADA, Some(new_message.id), "yes");
    assert_eq!(desk.decided(&new)["by"], "Ada");
    assert!(desk.is_open(&old));
    first.kill();
    second.kill();
}

#[test]
fn it_is_said_when_the_file_with_all_of_a_question_could_not_be_sent() {
    let telegram = Telegram::start();
    telegram.faults().add("sendDocument", &[Fault::Down]);
    let desk = Desk::with_telegram(&telegram);
    let (client, _) = desk.ask(&"Which of these? ".repeat(400), None);
    let message = telegram.wait_for("The file below has all of it.");
    let said = telegram.wait_for("The file could not be sent.");
    assert!(
        said.text.contains("/#/cue/") && said.reply_to == Some(message.id),
        "{said:?}"
    );
    client.kill();
}
