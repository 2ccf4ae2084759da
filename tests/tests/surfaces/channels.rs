//! Channels from the page: the same as `cueme notify`, through the page's API.

use std::os::unix::fs::PermissionsExt;

use cueme_tests::eventually;
use cueme_tests::phone_fakes::{Push, Telegram};
use serde_json::json;

use crate::desk::{ADA, Desk};
use crate::push::{Phone, open};

#[test]
fn a_channel_is_added_tried_changed_and_removed_on_the_page_and_its_token_is_never_shown() {
    let telegram = Telegram::start();
    let push = Push::start();
    let desk = Desk::new(&format!("# mine\nreminder = false\n{}", push.section()));
    let page = Phone::subscribe(&desk, &push, open());
    let token = telegram.token();
    let body = json!({
        "kind": "telegram", "chat": "4200", "people": { "42": "Ada" }, "url": telegram.url(), "after": "0",
        "token": token, "reasons": ["question", "approval"],
    });
    let (status, added) = page.send("POST", "/channels", Some(body.clone()));
    assert_eq!(status, 201, "{added}");
    let expected = json!({
        "name": "telegram", "kind": "telegram", "people": ["Ada"], "after_ms": 0, "quiet": null, "preview": true,
        "reasons": ["question", "approval"],
    });
    assert_eq!(added, expected);
    let (_, listed) = page.send("GET", "/channels", None);
    assert_eq!(listed, json!({ "channels": [expected] }));
    assert_eq!(
        page.send("POST", "/channels", Some(body)).0,
        400,
        "the name is taken"
    );
    let secret = desk.home.path().join("data/secrets/telegram.token");
    let mode = std::fs::metadata(&secret).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let config = || std::fs::read_to_string(desk.home.path().join("config.toml")).unwrap();
    assert!(
        config().starts_with("# mine\nreminder = false\n") && !config().contains(token),
        "{}",
        config()
    );
    assert!(desk.home.ok(&["notify", "list"]).contains("answered by Ada"));

    assert_eq!(page.send("POST", "/channels/telegram/test", None).0, 204);
    telegram.wait_for("This channel works. No question waits.");
    let (client, _) = desk.ask("Does it work?", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Does it work?");
    telegram.press(ADA, message.id, &message.buttons[0].0);
    client.finish().printed(0);

    let (status, changed) = page.send(
        "PATCH",
        "/channels/telegram",
        Some(json!({ "reasons": ["approval"] })),
    );
    assert_eq!((status, &changed["reasons"]), (200, &json!(["approval"])));
    let (client, _) = desk.ask("Only the phone?", None);
    eventually("the phone is told", || {
        push.messages(&page.browser)
            .iter()
            .any(|message| message["body"] == "Only the phone?")
            .then_some(())
    });
    assert!(
        telegram
            .messages()
            .iter()
            .all(|message| !message.text.contains("Only the phone?"))
    );
    client.kill();

    assert_eq!(page.send("DELETE", "/channels/telegram", None).0, 204);
    assert!(!secret.exists() && !config().contains("telegram"), "{}", config());
    assert_eq!(page.send("DELETE", "/channels/telegram", None).0, 404);
}

#[test]
fn a_page_cannot_name_files_and_variables_of_the_brokers_machine() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let page = Phone::subscribe(&desk, &push, open());
    let before = std::fs::read_to_string(desk.home.path().join("config.toml")).unwrap();
    for body in [
        json!({ "kind": "webhook", "url": "file:/etc/passwd" }),
        json!({ "kind": "webhook", "url": "env:HOME" }),
        json!({ "kind": "webhook", "url": "https://a.example", "name": "../x" }),
        json!({ "kind": "webhook" }),
        json!({ "kind": "telegram", "chat": "1", "token": "one\ntwo" }),
        json!({ "kind": "desktop" }),
        json!({ "kind": "ntfy", "url": "https://a.example/t", "reasons": [] }),
    ] {
        let (status, said) = page.send("POST", "/channels", Some(body.clone()));
        assert_eq!(status, 400, "{body}: {said}");
    }
    // A token that looks like a place is a token: it is kept as it is, and read from our file.
    let body = json!({ "kind": "webhook", "url": "https://a.example", "token": "file:/etc/passwd" });
    assert_eq!(page.send("POST", "/channels", Some(body)).0, 201);
    let kept = std::fs::read_to_string(desk.home.path().join("data/secrets/webhook.token")).unwrap();
    assert_eq!(kept, "file:/etc/passwd\n");
    assert_eq!(page.send("DELETE", "/channels/webhook", None).0, 204);
    let after = std::fs::read_to_string(desk.home.path().join("config.toml")).unwrap();
    assert_eq!(after.trim_end(), before.trim_end());
}
