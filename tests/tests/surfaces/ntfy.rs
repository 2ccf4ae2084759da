//! ntfy, against a stand-in of its server.

use cueme_tests::eventually;
use cueme_tests::phone_fakes::{Fault, Ntfy};
use serde_json::json;

use crate::desk::{Desk, soon};

#[test]
fn a_button_answers_through_the_reply_topic_and_the_notification_goes() {
    let ntfy = Ntfy::start();
    let desk = Desk::new(&ntfy.section());
    let payload = json!({ "type": "choice", "options": ["red", "blue"] });
    let (client, cue) = desk.ask("Which colour?", Some(&payload));
    let notification = ntfy.wait_for("Which colour?");
    assert!(
        notification["click"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/#/cue/{cue}"))
    );
    ntfy.press(&notification, "blue");
    assert!(client.finish().printed(0).contains("blue"));
    assert_eq!(desk.home.show(&cue)["by"], "Bob");
    soon("the notification is deleted", || {
        ntfy.notifications().is_empty().then_some(())
    });
}

#[test]
fn a_message_without_the_key_of_an_open_question_changes_nothing_and_is_logged() {
    let ntfy = Ntfy::start();
    let desk = Desk::new(&ntfy.section());
    let (first, one) = desk.ask("First?", Some(&json!({ "type": "confirm" })));
    let old = ntfy.wait_for("First?");
    desk.home.ok(&["answer", &one, "no"]);
    eventually("the notification is deleted", || {
        ntfy.notifications().is_empty().then_some(())
    });
    let (second, two) = desk.ask("Second?", Some(&json!({ "type": "confirm" })));
    ntfy.wait_for("Second?");
    let label = old["actions"][0]["label"].as_str().unwrap().to_owned();
    ntfy.press(&old, &label);
    ntfy.publish("desk-replies", "0123456789abcdef y");
    ntfy.publish("desk-replies", "yes");
    eventually("all three are logged", || {
        (desk.home.log().matches("not configured").count() == 3).then_some(())
    });
    assert!(desk.is_open(&two));
    first.kill();
    second.kill();
}

#[test]
fn outages_and_a_kill_lose_no_press_and_send_nothing_twice() {
    let ntfy = Ntfy::start();
    ntfy.faults()
        .add("publish", &[Fault::RateLimited(1), Fault::Down]);
    ntfy.faults().add("follow", &[Fault::Down, Fault::Down]);
    ntfy.faults().add("delete", &[Fault::Down]);
    let desk = Desk::new(&ntfy.section());
    let (client, cue) = desk.ask("Still there?", Some(&json!({ "type": "confirm" })));
    let notification = ntfy.wait_for("Still there?");
    desk.keeps(1);
    desk.home.kill_broker();
    let label = notification["actions"][0]["label"].as_str().unwrap().to_owned();
    ntfy.press(&notification, &label);
    assert_eq!(desk.decided(&cue)["by"], "Bob");
    eventually("the notification is deleted", || {
        ntfy.notifications().is_empty().then_some(())
    });
    assert_eq!(ntfy.published(), 1);
    client.kill();
}
