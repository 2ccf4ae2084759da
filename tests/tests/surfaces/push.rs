//! Web Push, against a push service that decrypts as a browser does.

use std::time::Duration;

use cueme_tests::phone_fakes::{Fault, Push, PushBrowser, Telegram};
use cueme_tests::{Home, Http, eventually};
use serde_json::{Value, json};

use crate::desk::{Desk, PEOPLE, secret, soon};

/// A phone: signed in, and subscribed to pushes.
pub(crate) struct Phone {
    http: Http,
    cookie: String,
    pub(crate) browser: PushBrowser,
}

impl Phone {
    /// Signs a phone in and subscribes it with these choices.
    #[track_caller]
    pub(crate) fn subscribe(desk: &Desk, push: &Push, choices: Value) -> Self {
        let (http, cookie) = desk.sign_in();
        let (status, state) = send(&http, &cookie, "GET", "/push", None);
        assert_eq!((status, &state["subscription"]), (200, &Value::Null), "{state}");
        let browser = push.subscribe(state["public_key"].as_str().unwrap());
        let phone = Self {
            http,
            cookie,
            browser,
        };
        let (status, body) = phone.send("PUT", "/push", Some(phone.browser.subscription(choices)));
        assert_eq!(status, 200, "{body}");
        phone
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        send(&self.http, &self.cookie, method, path, body)
    }

    /// Somebody presses a button, as the service worker does.
    pub(crate) fn press(&self, notification: &Value, label: &str) -> (u16, Value) {
        let buttons = notification["buttons"].as_array().cloned().unwrap_or_default();
        let button = buttons.iter().find(|button| button["label"] == label);
        let button = button.unwrap_or_else(|| panic!("no button {label:?} in {notification}"));
        let body =
            json!({ "id": notification["id"], "cue_id": notification["cue"], "press": button["press"] });
        self.send("POST", "/push/press", Some(body))
    }
}

fn send(http: &Http, cookie: &str, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let (host, origin) = (http.host(), http.origin());
    let headers = [
        ("host", host.as_str()),
        ("origin", &origin),
        ("cookie", cookie),
        ("content-type", "application/json"),
    ];
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let answer = http.send(method, &format!("/api/v1{path}"), &headers, body.as_bytes());
    (
        answer.status,
        serde_json::from_str(&answer.text()).unwrap_or_default(),
    )
}

/// Tells at once, with the words.
pub(crate) fn open() -> Value {
    json!({ "after_ms": 0, "preview": true })
}

#[test]
fn a_button_on_a_notification_answers_with_the_devices_name_and_other_devices_close_theirs() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let phone = Phone::subscribe(&desk, &push, open());
    let tablet = Phone::subscribe(&desk, &push, open());
    let (_, devices) = phone.send("GET", "/devices", None);
    let mine = devices["devices"].as_array().unwrap().iter();
    let mine = mine
        .clone()
        .find(|device| device["current"] == true)
        .expect("a device");
    let id = mine["device_id"].as_str().unwrap();
    phone.send(
        "PATCH",
        &format!("/devices/{id}"),
        Some(json!({ "name": "Ada's phone" })),
    );
    let payload = json!({ "type": "choice", "options": ["red", "blue"] });
    let (client, cue) = desk.ask("Which colour?", Some(&payload));
    let notification = push.wait_for(&phone.browser, &cue);
    assert!(
        notification["body"]
            .as_str()
            .unwrap()
            .starts_with("Which colour?")
    );
    push.wait_for(&tablet.browser, &cue);
    assert_eq!(phone.press(&notification, "blue").0, 204);
    assert!(client.finish().printed(0).contains("blue"));
    assert_eq!(desk.home.show(&cue)["by"], "Ada's phone");
    soon("the notifications are closed", || {
        let standing = [&phone, &tablet].map(|device| push.notifications(&device.browser).len());
        (standing == [0, 0]).then_some(())
    });
    let last = push.messages(&tablet.browser).pop().unwrap();
    assert_eq!(last["line"], "Answered by Ada's phone: blue");
    // Until the broker has forgotten the closed notification, the same press is the same answer.
    soon("the question does not stand there any more", || {
        (phone.press(&notification, "blue").0 == 409).then_some(())
    });
    assert_eq!(desk.home.show(&cue)["by"], "Ada's phone");
}

#[test]
fn a_device_whose_revocation_the_broker_did_not_hear_of_decides_nothing_by_a_button() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let phone = Phone::subscribe(&desk, &push, open());
    let payload = json!({ "type": "choice", "options": ["red", "blue"] });
    let (client, cue) = desk.ask("Which colour?", Some(&payload));
    let notification = push.wait_for(&phone.browser, &cue);
    let database = rusqlite::Connection::open(desk.home.database()).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    database.execute("DELETE FROM devices", []).unwrap();
    let (status, body) = phone.press(&notification, "blue");
    assert_eq!(status, 409, "{body}");
    assert!(desk.is_open(&cue));
    client.kill();
}

#[test]
fn the_words_stay_hidden_unless_the_owner_of_the_device_shows_them() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let phone = Phone::subscribe(&desk, &push, json!({ "after_ms": 0 }));
    let (client, cue) = desk.ask("The password is swordfish?", Some(&json!({ "type": "confirm" })));
    let notification = push.wait_for(&phone.browser, &cue);
    assert_eq!(
        (
            &notification["body"],
            &notification["buttons"],
            &notification["whole"]
        ),
        (&Value::Null, &Value::Null, &json!(false))
    );
    let body = json!({ "id": notification["id"], "cue_id": cue, "press": "y" });
    assert_eq!(
        phone.send("POST", "/push/press", Some(body)).0,
        409,
        "nobody consents to what was not shown"
    );
    assert!(desk.is_open(&cue));
    desk.home.ok(&["answer", &cue, "no"]);
    eventually("the notification is closed", || {
        push.notifications(&phone.browser).is_empty().then_some(())
    });
    let sent = json!(push.messages(&phone.browser)).to_string();
    assert!(!sent.contains("swordfish"), "{sent}");
    client.kill();
}

#[test]
fn outages_are_waited_out_and_an_ended_subscription_is_removed() {
    let push = Push::start();
    push.faults()
        .add("send", &[Fault::RateLimited(1), Fault::Down, Fault::Down]);
    let desk = Desk::new(&push.section());
    let phone = Phone::subscribe(&desk, &push, open());
    let (first, one) = desk.ask("Still there?", None);
    push.wait_for(&phone.browser, &one);
    assert!(push.faults().are_over("send"));
    desk.home.kill_broker();
    desk.home.ok(&["answer", &one, "yes"]);
    // An agent that has not got this answer yet gets it in place of its next wait.
    assert!(first.finish().printed(0).contains("yes"));
    eventually("a restarted broker closes the notification", || {
        push.notifications(&phone.browser).is_empty().then_some(())
    });
    assert_eq!(push.messages(&phone.browser).len(), 2, "nothing is sent twice");
    push.end(&phone.browser);
    let (second, two) = desk.ask("And now?", None);
    eventually("the subscription is removed", || {
        let (_, state) = phone.send("GET", "/push", None);
        state["subscription"].is_null().then_some(())
    });
    assert!(desk.is_open(&two));
    second.kill();
}

#[test]
fn pushes_end_with_the_device_and_go_to_one_of_two_with_the_same_subscription() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let old = Phone::subscribe(&desk, &push, open());
    let (http, cookie) = desk.sign_in();
    let again = Phone {
        http,
        cookie,
        browser: old.browser.clone(),
    };
    let body = old.browser.subscription(open());
    assert_eq!(again.send("PUT", "/push", Some(body)).0, 200);
    let (_, state) = old.send("GET", "/push", None);
    assert_eq!(state["subscription"], Value::Null, "the browser signed in anew");
    let (first, one) = desk.ask("Once?", None);
    push.wait_for(&old.browser, &one);
    let (_, devices) = again.send("GET", "/devices", None);
    let devices = devices["devices"].as_array().unwrap().clone();
    let mine = devices.iter().find(|device| device["current"] == true).unwrap();
    let id = mine["device_id"].as_str().unwrap();
    assert_eq!(old.send("DELETE", &format!("/devices/{id}"), None).0, 204);
    let witness = Phone::subscribe(&desk, &push, open());
    let asked = ["Twice?", "Three times?"].map(|prompt| {
        let (client, cue) = desk.ask(prompt, None);
        push.wait_for(&witness.browser, &cue);
        client
    });
    assert_eq!(push.messages(&old.browser).len(), 1, "no push without its device");
    first.kill();
    for client in asked {
        client.kill();
    }
}

#[test]
fn a_device_is_told_of_what_its_owner_chose_and_not_in_quiet_hours() {
    let push = Push::start();
    // A chat has no quiet hours of the page: what it shows was due on the devices, too.
    let (chat, home) = (Telegram::start(), Home::new());
    let token = secret(&home, "telegram", chat.token());
    let config = [push.section(), chat.section(&token, PEOPLE)].concat();
    let desk = Desk::in_home(home, &config);
    let choices = json!({ "after_ms": 0, "preview": true, "reasons": ["approval"] });
    let phone = Phone::subscribe(&desk, &push, choices);
    let tablet = Phone::subscribe(&desk, &push, open());
    let (client, question) = desk.ask("A question?", None);
    push.wait_for(&tablet.browser, &question);
    let (_wire, approval) = desk.ask_approval("rm -rf build");
    let shown = push.wait_for(&phone.browser, &approval);
    assert!(shown["title"].as_str().unwrap().ends_with("wants approval"));
    assert_eq!(push.messages(&phone.browser).len(), 1);
    push.wait_for(&tablet.browser, &approval);
    let quiet = json!({ "quiet_hours": { "enabled": true, "from": "00:00", "to": "00:00" } });
    assert_eq!(tablet.send("PATCH", "/settings", Some(quiet)).0, 200);
    let before = push.messages(&tablet.browser).len();
    let (late, night) = desk.ask("In the night?", None);
    chat.wait_for("In the night?");
    let (later, _) = desk.ask("Later that night?", None);
    chat.wait_for("Later that night?");
    assert_eq!(push.messages(&tablet.browser).len(), before);
    let over = json!({ "quiet_hours": { "enabled": false, "from": "00:00", "to": "00:00" } });
    assert_eq!(tablet.send("PATCH", "/settings", Some(over)).0, 200);
    push.wait_for(&tablet.browser, &night);
    for waiting in [client, late, later] {
        waiting.kill();
    }
}

#[test]
fn addresses_of_this_network_and_keys_of_no_browser_are_refused() {
    let push = Push::start();
    let desk = Desk::in_home(Home::new(), "");
    let (http, cookie) = desk.sign_in();
    let (_, state) = send(&http, &cookie, "GET", "/push", None);
    let browser = push.subscribe(state["public_key"].as_str().unwrap());
    let right = browser.subscription(json!({}));
    let refused = |change: Value| {
        let mut body = right.clone();
        for (key, value) in change.as_object().unwrap() {
            body[key] = value.clone();
        }
        let (status, body) = send(&http, &cookie, "PUT", "/push", Some(body));
        assert_eq!(status, 400, "{change}: {body}");
        body["error"]["message"].as_str().unwrap().to_owned()
    };
    // The stand-in itself is on this machine, and this configuration does not name it.
    assert!(refused(json!({})).contains("private network"));
    for endpoint in [
        "http://push.example.org/x",
        "https://169.254.169.254/latest",
        "https://[::1]/x",
    ] {
        refused(json!({ "endpoint": endpoint }));
    }
    let public = json!({ "endpoint": "https://push.example.org/x", "p256dh": "AAAA" });
    assert!(refused(public).contains("p256dh"));
    let (status, _) = send(&http, &cookie, "POST", "/push/test", None);
    assert_eq!(status, 404);
}

#[test]
fn a_test_arrives_and_a_program_cannot_subscribe() {
    let push = Push::start();
    let desk = Desk::new(&push.section());
    let phone = Phone::subscribe(&desk, &push, json!({}));
    assert_eq!(phone.send("POST", "/push/test", None).0, 204);
    assert_eq!(push.messages(&phone.browser), [json!({ "kind": "test" })]);
    let (_, state) = phone.send("GET", "/push", None);
    let chosen =
        json!({ "preview": false, "after_ms": 30_000, "reasons": ["question", "approval", "pause"] });
    assert_eq!(
        state["subscription"], chosen,
        "the endpoint and the keys are not shown again"
    );
    assert_eq!(phone.send("DELETE", "/push", None).0, 204);
    assert_eq!(phone.send("POST", "/push/test", None).0, 404);
    let token = desk.home.ok(&["token", "--scope", "human"]);
    let bearer = format!("Bearer {}", token.trim());
    let host = phone.http.host();
    let headers = [("host", host.as_str()), ("authorization", &bearer)];
    assert_eq!(phone.http.send("GET", "/api/v1/push", &headers, b"").status, 403);
}
