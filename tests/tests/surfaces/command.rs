//! `cueme notify`: channels are added, tried, listed and removed, and tokens are never shown again.

use std::os::unix::fs::PermissionsExt;

use cueme_tests::phone_fakes::Telegram;
use cueme_tests::{Home, eventually};
use serde_json::json;

use crate::desk::{ADA, Desk};

#[test]
fn a_channel_is_added_tried_used_listed_and_removed_and_its_token_is_never_shown() {
    let telegram = Telegram::start();
    let desk = Desk::new("# mine\nreminder = false\n");
    let (url, token) = (telegram.url(), telegram.token());
    let add = [
        "notify", "add", "telegram", "--chat", "4200", "--people", "42=Ada", "--url", &url, "--after", "0",
    ];
    let added = desk.home.run_with(&add, token.as_bytes());
    assert!(
        added.printed(0).contains("cueme notify test telegram"),
        "{added:?}"
    );
    let secret = desk.home.path().join("data/secrets/telegram.token");
    assert_eq!(
        std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let config = std::fs::read_to_string(desk.home.path().join("config.toml")).unwrap();
    assert!(
        config.starts_with("# mine\nreminder = false\n") && !config.contains(token),
        "{config}"
    );

    desk.home.ok(&["notify", "test", "telegram"]);
    telegram.wait_for("This channel works. No question waits.");
    let listed = desk.home.ok(&["notify", "list"]);
    let as_json = desk.home.json(&["notify", "list", "--json"]);
    assert!(
        listed.contains("telegram") && listed.contains("answered by Ada"),
        "{listed}"
    );
    assert_eq!(
        (&as_json[0]["kind"], &as_json[0]["people"]),
        (&json!("telegram"), &json!(["Ada"]))
    );
    assert!(!listed.contains(token) && !as_json.to_string().contains(token));

    eventually("the broker listens", || (telegram.polls() > 0).then_some(()));
    let (client, _) = desk.ask("Does it work?", Some(&json!({ "type": "confirm" })));
    let message = telegram.wait_for("Does it work?");
    telegram.press(ADA, message.id, &message.buttons[0].0);
    client.finish().printed(0);

    desk.home.ok(&["notify", "remove", "telegram"]);
    assert!(!secret.exists());
    let config = std::fs::read_to_string(desk.home.path().join("config.toml")).unwrap();
    assert_eq!(config.trim_end(), "# mine\nreminder = false");
}

#[test]
fn a_wrong_channel_is_refused_and_changes_nothing() {
    let home = Home::new();
    home.configure("reminder = false\n");
    for (words, stdin, said) in [
        (&["notify", "add", "telegram"][..], "t0ken", "needs a chat"),
        (
            &["notify", "add", "telegram", "--chat", "1"],
            "",
            "no token on stdin",
        ),
        (
            &["notify", "add", "slack", "--channel", "C1", "--people", "U1=Ada"],
            "one",
            "no app_token on stdin",
        ),
        (
            &["notify", "add", "slack", "--channel", "C1"],
            "one\ntwo",
            "needs people",
        ),
        (&["notify", "add", "ntfy"], "", "needs a url"),
        (
            &["notify", "add", "telegram", "--chat", "1", "--people", "Ada"],
            "t0ken",
            "is not ID=NAME",
        ),
        (&["notify", "test", "telegram"], "", "there is no channel"),
        (&["notify", "remove", "telegram"], "", "there is no channel"),
    ] {
        home.run_with(words, stdin.as_bytes()).refused(2, &[said]);
        let config = std::fs::read_to_string(home.path().join("config.toml")).unwrap();
        assert_eq!(config, "reminder = false\n", "{words:?}");
        let secrets = std::fs::read_dir(home.path().join("data/secrets"));
        assert_eq!(secrets.map_or(0, Iterator::count), 0, "{words:?}");
    }
    let added = [
        "notify",
        "add",
        "telegram",
        "--chat",
        "1",
        "--url",
        "http://127.0.0.1:1",
    ];
    home.run_with(&added, b"t0ken-of-the-bot").printed(0);
    let failed = home.run(&["notify", "test", "telegram"]);
    failed.refused(74, &["telegram was not reached", "hint"]);
    assert!(!failed.stderr.contains("t0ken-of-the-bot"), "{failed:?}");
}
