//! Slack, against a stand-in of its Web API and of Socket Mode.

use cueme_tests::phone_fakes::{Fault, Slack};
use cueme_tests::{Home, eventually};
use serde_json::json;

use crate::desk::{Desk, secret, soon};

const PEOPLE: &str = "{ U0ADA = \"Ada\" }";

pub(crate) fn section(home: &Home, slack: &Slack) -> String {
    let (token, app_token) = slack.tokens();
    let (token, app_token) = (secret(home, "slack", token), secret(home, "slack-app", app_token));
    slack.section(&token, &app_token, PEOPLE)
}

fn desk(slack: &Slack) -> Desk {
    let home = Home::new();
    let config = section(&home, slack);
    Desk::in_home(home, &config)
}

#[test]
fn buttons_marks_and_replies_in_a_thread_answer_with_the_persons_name() {
    let slack = Slack::start();
    let desk = desk(&slack);
    let (client, cue) = desk.ask("Ship <!channel> *now*?", Some(&json!({ "type": "confirm" })));
    let message = slack.wait_for("Ship <!channel> *now*?");
    assert!(!message.text.contains("<!channel>"), "{}", message.text);
    slack.press("U0ADA", &message, &message.buttons[0].0, &[]);
    client.finish().printed(0);
    assert_eq!(desk.home.show(&cue)["by"], "Ada");
    let closed = soon("the message is updated", || {
        slack
            .messages()
            .into_iter()
            .find(|now| now.words.contains("Answered by Ada"))
    });
    assert_eq!((&closed.ts, closed.buttons.len()), (&message.ts, 0));

    let many = json!({ "type": "choice", "options": ["lint", "test", "ship"], "allow_multiple": true });
    let (client, _) = desk.ask("Which steps?", Some(&many));
    let message = slack.wait_for("Which steps?");
    slack.press("U0ADA", &message, "Send", &[]);
    eventually("a whisper", || {
        slack
            .whispers()
            .iter()
            .any(|(_, text)| text.contains("Choose something"))
            .then_some(())
    });
    slack.press("U0ADA", &message, "Send", &[2, 0]);
    assert!(client.finish().printed(0).contains("lint\nship"));

    let (client, cue) = desk.ask("What is it called?", None);
    let message = slack.wait_for("What is it called?");
    slack.reply_with_file(
        "U0ADA",
        &message,
        "logo.txt",
        b"a logo",
        "a &lt;b&gt; &amp; <https://x.test|x>",
    );
    let printed = client.finish();
    assert!(
        printed.printed(0).contains("a <b> & https://x.test"),
        "{printed:?}"
    );
    let attachment = desk.home.show(&cue)["answer"]["attachments"][0].clone();
    assert_eq!(
        std::fs::read(attachment["path"].as_str().unwrap()).unwrap(),
        b"a logo"
    );
    assert_eq!(slack.late(), 0, "every envelope is acknowledged in time");
}

#[test]
fn nothing_happens_when_somebody_presses_or_replies_who_is_not_configured_and_the_log_says_who() {
    let slack = Slack::start();
    let desk = desk(&slack);
    let (client, cue) = desk.ask("Delete it all?", Some(&json!({ "type": "confirm" })));
    let message = slack.wait_for("Delete it all?");
    slack.press("U0MALLORY", &message, &message.buttons[0].0, &[]);
    slack.reply("U0MALLORY", &message, "yes");
    eventually("both are logged", || {
        (desk.home.log().matches("U0MALLORY").count() == 2).then_some(())
    });
    assert!(desk.is_open(&cue));
    let (token, app_token) = slack.tokens();
    assert!(!desk.home.log().contains(token) && !desk.home.log().contains(app_token));
    client.kill();
}

#[test]
fn a_question_that_does_not_fit_comes_as_a_file_in_the_thread() {
    let slack = Slack::start();
    let desk = desk(&slack);
    let script: String = (0..2000).map(|line| format!("echo {line};\n")).collect();
    let (_hook, cue) = desk.ask_approval(&script);
    let message = slack.wait_for("characters are not shown here");
    assert!(message.buttons.is_empty());
    let file = eventually("the file", || slack.uploads().pop());
    assert_eq!((file.1.as_str(), &file.2), (script.as_str(), &message.ts));
    slack.reply("U0ADA", &message, "yes");
    eventually("a whisper", || {
        slack
            .whispers()
            .iter()
            .any(|(_, text)| text.contains("not shown whole"))
            .then_some(())
    });
    assert!(desk.is_open(&cue));
}

#[test]
fn new_connections_repeats_limits_and_a_kill_lead_to_one_decision_and_one_message() {
    let slack = Slack::start();
    slack
        .faults()
        .add("chat.postMessage", &[Fault::RateLimited(1), Fault::Down]);
    slack.faults().add("apps.connections.open", &[Fault::Down]);
    slack.faults().add("chat.update", &[Fault::Down]);
    slack.repeat_and_disconnect();
    let desk = desk(&slack);
    let (client, cue) = desk.ask("Through the storm?", Some(&json!({ "type": "confirm" })));
    let message = slack.wait_for("Through the storm?");
    desk.keeps(1);
    desk.home.kill_broker();
    slack.press("U0ADA", &message, &message.buttons[0].0, &[]);
    slack.press("U0ADA", &message, &message.buttons[1].0, &[]);
    let decided = desk.decided(&cue);
    assert_eq!(
        (&decided["by"], &decided["answer"]["reply"]["confirmed"]),
        (&json!("Ada"), &json!(true))
    );
    slack.wait_for("Answered by Ada");
    slack.wait_until_heard();
    assert!(slack.connections() > 2);
    assert_eq!(slack.messages().len(), 1);
    client.kill();
}

#[test]
fn a_reply_that_is_also_sent_to_the_channel_answers_and_no_file_is_passed_over() {
    let slack = Slack::start();
    let desk = desk(&slack);
    let (client, cue) = desk.ask("What is the plan?", None);
    let message = slack.wait_for("What is the plan?");
    slack.reply_to_channel_with_foreign_file("U0ADA", &message, "this one");
    eventually("a whisper", || {
        let whispers = slack.whispers();
        whispers
            .iter()
            .any(|(_, text)| text.contains("a file could not be fetched"))
            .then_some(())
    });
    assert!(desk.is_open(&cue));
    slack.reply_to_channel("U0ADA", &message, "the second one");
    assert!(client.finish().printed(0).contains("the second one"));
}

#[test]
fn without_a_preview_neither_the_question_nor_its_answer_reaches_the_channel() {
    let slack = Slack::start();
    let home = Home::new();
    let config = format!("{}preview = false\n", section(&home, &slack));
    let desk = Desk::in_home(home, &config);
    let (client, cue) = desk.ask("The password is swordfish. Which is the next?", None);
    let message = slack.wait_for("Open the question to read and answer it.");
    desk.home.ok(&["answer", &cue, "marlin"]);
    let closed = slack.wait_for("Answered by");
    assert_eq!(closed.ts, message.ts);
    // Somebody replies whose screen was slow.
    slack.reply("U0ADA", &message, "tuna");
    slack.wait_until_heard();
    for text in slack
        .messages()
        .iter()
        .flat_map(|message| [&message.words, &message.text])
    {
        assert!(!text.contains("swordfish") && !text.contains("marlin"), "{text}");
    }
    let whispers = slack.whispers();
    assert!(
        whispers.iter().all(|(_, text)| !text.contains("marlin")),
        "{whispers:?}"
    );
    client.finish();
}
