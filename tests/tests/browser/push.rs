//! Web Push in a real browser: the settings subscribe, and the service worker shows, closes and answers with the page closed.
//!
//! A browser without the network of its vendor has no push service. The subscription is one of our own service, and what that
//! service decrypts is delivered to the worker by the browser's debugging protocol.

use std::time::Duration;

use cueme_tests::phone_fakes::{Push, PushBrowser, Telegram};
use cueme_tests::worker::Worker;
use cueme_tests::{Home, eventually, within};
use serde_json::{Value, json};

use crate::driver::{Browser, PHONE, key, sign_in};

/// Lists the notifications that stand.
const SHOWN: &str = "return (await self.registration.getNotifications()).map(({ tag, title, body, actions }) => ({ tag, title, body, actions: actions.map(({ title }) => title) }))";

/// Stands in for what the browser's vendor would answer.
pub(crate) fn stand_in(browser: &Browser, subscription: &PushBrowser) {
    let subscription = json!({
        "endpoint": subscription.endpoint,
        "keys": { "p256dh": subscription.p256dh, "auth": subscription.auth },
    });
    browser.script(&format!(
        "let made = null; window.keys = [];
         const subscription = {{ toJSON: () => ({subscription}), unsubscribe: async () => {{ made = null; return true; }} }};
         PushManager.prototype.subscribe = async (options) => {{ keys.push(options.applicationServerKey); return made = subscription; }};
         PushManager.prototype.getSubscription = async () => made;
         return true"
    ));
}

pub(crate) fn click_line(browser: &Browser, label: &str) {
    let label = json!(label);
    browser.until(&format!(
        "const line = [...document.querySelectorAll('#settings-reach label')].find((line) => line.innerText.trim() === {label});
         const box = line?.querySelector('input'); box?.click(); return Boolean(box)"
    ));
}

#[test]
fn a_device_subscribes_in_the_settings_and_answers_from_a_notification_with_the_page_closed() {
    let push = Push::start();
    let home = Home::created();
    let channel =
        "[[notify]]\nkind = \"ntfy\"\nname = \"team\"\nurl = \"https://ntfy.example/team\"\nafter = \"1h\"\n";
    home.configure(&format!("{}{channel}", push.section()));
    let agent = home.join_as("terminal");
    let browser = sign_in(&home, PHONE);
    let origin = browser
        .script("return location.origin")
        .as_str()
        .unwrap()
        .to_owned();
    browser.devtools(
        "Browser.grantPermissions",
        json!({ "permissions": ["notifications"], "origin": origin }),
    );
    browser.until("return navigator.serviceWorker.ready.then((worker) => worker.active !== null)");
    let public_key = browser.script(
        "return fetch('/api/v1/push').then((answer) => answer.json()).then((state) => state.public_key)",
    );
    let subscription = push.subscribe(public_key.as_str().unwrap());
    stand_in(&browser, &subscription);
    browser.click("[aria-label=Settings]");
    browser.click("#settings-reach summary");
    click_line(
        &browser,
        "Send questions to this device, even when the page is closed",
    );
    browser.sees("#settings-reach", "Show the question on the lock screen");
    assert_eq!(browser.script("return keys"), json!([public_key]));
    let chosen = "return fetch('/api/v1/push').then((answer) => answer.json()).then(({ subscription }) => JSON.stringify(subscription)";
    // The second change is made before the broker has heard of the first.
    browser.script(
        "const line = [...document.querySelectorAll('#settings-reach label')].find((line) => line.innerText.trim() === 'Show the question on the lock screen');
         line.querySelector('input').click();
         const list = document.querySelector('#settings-reach select'); list.value = '0'; list.dispatchEvent(new Event('change')); return true",
    );
    browser.until(&format!("{chosen}.includes('\"after_ms\":0'))"));
    browser.until(&format!("{chosen}.includes('\"preview\":true'))"));
    click_line(&browser, "Pauses");
    browser.until(&format!("{chosen}.endsWith('[\"question\",\"approval\"]}}'))"));
    browser.sees("[data-channel=team]", "notifications only");
    browser.click_text("#settings-reach section:first-child button", "Send a test");
    eventually("a test", || {
        (push.messages(&subscription) == [json!({ "kind": "test" })]).then_some(())
    });
    browser.press(key::ESCAPE);

    let mut worker = browser.worker();
    browser.goto("about:blank");
    let payload = r#"{"type":"confirm","confirm_label":"Ship it","cancel_label":"Wait"}"#;
    let (asking, cue) = home.ask(&agent, "Deploy to production?", Some(payload));
    let message = push.wait_for(&subscription, &cue);
    let notification = deliver(&mut worker, &origin, &message);
    assert_eq!(
        (
            &notification["tag"],
            &notification["body"],
            &notification["actions"]
        ),
        (
            &json!(cue),
            &json!("Deploy to production?"),
            &json!(["Ship it", "Wait"])
        )
    );
    assert!(notification["title"].as_str().unwrap().contains(&agent));
    press(&mut worker, "y");
    assert!(asking.finish().expect(0).stdout.starts_with("Ship it"));
    let by = home.show(&cue)["by"].as_str().unwrap().to_owned();
    assert!(by.contains("Chrome"), "{by}");

    // Decided elsewhere: the notification goes, and a press that is too late says so.
    let (asking, cue) = home.ask(&agent, "And to staging?", Some(payload));
    deliver(&mut worker, &origin, &push.wait_for(&subscription, &cue));
    home.run(&["answer", &cue, "Wait"]).expect(0);
    asking.finish().expect(0);
    let over = eventually("the end is pushed", || {
        let last = push.messages(&subscription).pop()?;
        (last["kind"] == "over" && last["cue"] == cue.as_str()).then_some(last)
    });
    worker.push(&origin, &over);
    eventually("the notification is closed", || {
        worker.script(SHOWN).as_array().unwrap().is_empty().then_some(())
    });
    deliver(&mut worker, &origin, &message);
    press(&mut worker, "n");
    let told = eventually("a notification that nothing was sent", || {
        let all = worker.script(SHOWN);
        all.as_array()
            .unwrap()
            .iter()
            .find(|one| one["title"] == "Not sent")
            .cloned()
    });
    assert!(told["body"].as_str().unwrap().contains("Ship it"), "{told}");
}

/// Delivers a push until the worker shows it, and returns the notification. A browser that just left a page may lose one.
#[track_caller]
fn deliver(worker: &mut Worker, origin: &str, message: &Value) -> Value {
    for _ in 0..10 {
        worker.push(origin, message);
        let shown = within(Duration::from_secs(4), || {
            let all = worker.script(SHOWN);
            all.as_array()
                .unwrap()
                .iter()
                .find(|one| one["tag"] == message["cue"])
                .cloned()
        });
        if let Some(shown) = shown {
            return shown;
        }
    }
    panic!("no notification of {message}");
}

/// Presses a button of the one notification that stands.
fn press(worker: &mut Worker, action: &str) {
    let pressed: Value = worker.script(&format!(
        "const [notification] = await self.registration.getNotifications();
         self.dispatchEvent(new NotificationEvent('notificationclick', {{ notification, action: '{action}' }}));
         return true"
    ));
    assert_eq!(pressed, json!(true));
}

#[test]
fn a_channel_is_added_changed_and_removed_in_the_settings_and_its_token_stays_with_the_broker() {
    let telegram = Telegram::start();
    let home = Home::created();
    home.configure("");
    home.join_as("terminal");
    let browser = sign_in(&home, PHONE);
    browser.click("[aria-label=Settings]");
    browser.click("#settings-reach summary");
    browser.sees("#settings-reach", "No channels yet.");
    browser.click_text("#settings-reach button", "Add a channel");
    browser.write("#settings-reach [id^=token]", telegram.token());
    browser.click_text("#settings-reach form button", "Add");
    browser.sees("#settings-reach [role=alert]", "needs a chat");
    browser.write("#settings-reach [id^=chat]", "4200");
    browser.write("#settings-reach [id^=people]", "42=Ada");
    browser.click_text("#settings-reach form button", "Add");
    browser.sees("[data-channel=telegram]", "answered by Ada");
    let config = std::fs::read_to_string(home.path().join("config.toml")).unwrap();
    assert!(config.contains("people = { 42 = \"Ada\" }"), "{config}");
    let page = browser.script("return document.documentElement.outerHTML + JSON.stringify([...document.querySelectorAll('input')].map((input) => input.value))");
    assert!(
        !page.as_str().unwrap().contains(telegram.token()) && !config.contains(telegram.token()),
        "the token is not shown again"
    );
    browser.script("document.querySelector('[data-channel] input[value=pause]').click(); return true");
    eventually("the reasons are written", || {
        let config = std::fs::read_to_string(home.path().join("config.toml")).ok()?;
        config
            .contains("reasons = [\"question\", \"approval\"]")
            .then_some(())
    });
    browser.click_text("[data-channel=telegram] button", "Remove");
    browser.click_text("[data-channel=telegram] button", "Press again to remove it");
    browser.sees("#settings-reach", "No channels yet.");
}
