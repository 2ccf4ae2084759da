//! Rules that humans make in the page: made, tried on the past, changed, ended; the same judge as for those of the configuration.

use cueme_test_kit::eventually;
use protocol_spec::id::CueId;
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};

use crate::harness::{Browser, TestBroker};

/// A time that lies so many days ahead.
fn in_days(days: i64) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let millis = i64::try_from(now.as_millis()).unwrap() + days * 24 * 60 * 60 * 1000;
    protocol_spec::time::Timestamp::from_millis(millis).to_string()
}

fn rule(more: Value) -> Value {
    let mut rule = json!({ "name": "go on", "project": "/home/me/shop", "says": "Step * done. Next?", "answer": "Continue.", "until": in_days(30) });
    for (key, value) in more.as_object().unwrap() {
        rule[key] = value.clone();
    }
    rule
}

fn started(config: &str) -> (TestBroker, Browser) {
    let broker = TestBroker::with_config(config);
    let browser = broker.sign_in();
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 0 }))
        .ok(200);
    (broker, browser)
}

/// Makes sure that no rule answered these questions: rules try questions in order, and one has answered a later one.
#[track_caller]
fn are_left_open(broker: &TestBroker, browser: &Browser, cues: &[CueId]) {
    let later = rule(json!({ "name": "later", "says": "A later question?", "answer": "Yes." }));
    browser.post("/policies", &later).ok(201);
    assert_eq!(
        broker
            .ask(&broker.join("cursor"), "A later question?")
            .told()
            .text,
        "Yes."
    );
    for cue in cues {
        assert_eq!(browser.get(&format!("/cues/{cue}")).ok(200)["outcome"], "open");
    }
}

#[test]
fn a_rule_is_made_changed_and_ended_and_survives_a_kill() {
    let (mut broker, browser) = started("");
    let made = browser.post("/policies", &rule(json!({}))).ok(201);
    assert_eq!(
        (&made["name"], &made["answered"], &made["ended"]),
        (&json!("go on"), &json!(0), &json!(false))
    );
    assert_eq!(made["rule"]["says"], "Step * done. Next?");
    assert!(made["by"].is_string() && made["at"].is_string() && made["until"].is_string());
    let agent = broker.join("cursor");
    let mut first = broker.ask(&agent, "Step 1 done. Next?");
    let told = first.told();
    assert_eq!(
        (told.text.as_str(), told.by.as_deref()),
        ("Continue.", Some("policy: go on"))
    );
    first.ack();
    broker.kill_and_restart();
    let browser = broker.sign_in();
    let mut second = broker.ask(&agent, "Step 2 done. Next?");
    assert_eq!(second.told().text, "Continue.");
    second.ack();
    let changed = rule(json!({ "name": "go on", "answer": "Go on, please." }));
    assert_eq!(
        browser.send("PUT", "/policies/go%20on", &changed).ok(200)["answered"],
        2
    );
    let mut third = broker.ask(&agent, "Step 3 done. Next?");
    assert_eq!(third.told().text, "Go on, please.");
    third.ack();
    assert_eq!(browser.delete("/policies/go%20on").status, 204);
    assert_eq!(browser.get("/policies").ok(200)["policies"], json!([]));
    let open = broker.ask(&agent, "Step 4 done. Next?");
    are_left_open(&broker, &browser, &[open.cue]);
    browser.delete("/policies/go%20on").refused(404, "not_found");
}

#[test]
fn a_rule_needs_an_end_and_a_name_of_its_own() {
    let (broker, browser) = started("[[policy]]\nname = \"never\"\ntext = \"(?i)deploy\"\nhold = true\n");
    let mut without = rule(json!({}));
    without.as_object_mut().unwrap().remove("until");
    for wrong in [
        without,
        rule(json!({ "until": in_days(-1) })),
        rule(json!({ "until": in_days(400) })),
        rule(json!({ "name": "never" })),
        rule(json!({ "name": " " })),
        rule(json!({ "confirm": true, "choose": ["A"] })),
        rule(json!({ "hold": true })),
        rule(json!({ "text": ".*" })),
        rule(json!({ "origin": "approval" })),
    ] {
        browser.post("/policies", &wrong).refused(400, "bad_request");
    }
    browser
        .send("PUT", "/policies/never", &rule(json!({})))
        .refused(400, "bad_request");
    browser.delete("/policies/never").refused(400, "bad_request");
    browser.post("/policies", &rule(json!({}))).ok(201);
    browser
        .post("/policies", &rule(json!({})))
        .refused(400, "bad_request");
    // The caution of the configuration comes first.
    browser
        .post(
            "/policies",
            &rule(json!({ "name": "all", "says": "*", "answer": "Yes." })),
        )
        .ok(201);
    let agent = broker.join("cursor");
    let held = broker.ask(&agent, "Deploy now?");
    let approval = broker.ask_with(&agent, Kind::Cue, "Run make?", None, Origin::Approval);
    are_left_open(&broker, &browser, &[held.cue, approval.cue]);
}

#[test]
fn a_rule_that_has_ended_answers_nothing_and_says_so() {
    let (broker, browser) = started("");
    browser.post("/policies", &rule(json!({}))).ok(201);
    broker.sql("UPDATE settings SET value = replace(value, substr(value, instr(value, '\"until\":\"') + 9, 24), '2020-01-01T00:00:00.000Z') WHERE name = 'rules'");
    let mut broker = broker;
    broker.kill_and_restart();
    let browser_again = broker.sign_in();
    let shown = browser_again.get("/policies").ok(200)["policies"][0].clone();
    assert_eq!(shown["ended"], true, "{shown}");
    let agent = broker.join("cursor");
    let open = broker.ask(&agent, "Step 1 done. Next?");
    are_left_open(&broker, &browser_again, &[open.cue]);
}

#[test]
fn a_rule_is_tried_on_the_past_before_it_is_made() {
    let (broker, browser) = started("");
    let agent = broker.join("cursor");
    for (prompt, answer) in [
        ("Step 1 done. Next?", "continue."),
        ("Step 2 done. Next?", "stop"),
        ("Which colour?", "blue"),
    ] {
        let mut waiting = broker.ask(&agent, prompt);
        browser.answer(waiting.cue, &json!({ "text": answer }), 0).ok(200);
        waiting.told();
        waiting.ack();
    }
    let _open = broker.ask(&agent, "Step 3 done. Next?");
    let trial = browser.post("/rule-trials", &rule(json!({}))).ok(200);
    assert_eq!(trial["tried"], 4);
    let seen: Vec<(Value, Value)> = trial["fitting"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["cue"]["beginning"].clone(), one["agrees"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (json!("Step 3 done. Next?"), Value::Null),
            (json!("Step 2 done. Next?"), json!(false)),
            (json!("Step 1 done. Next?"), json!(true)),
        ]
    );
    assert_eq!(trial["fitting"][1]["said"], "stop");
    assert_eq!(browser.get("/policies").ok(200)["policies"], json!([]));
    browser
        .post("/rule-trials", &rule(json!({ "hold": true })))
        .refused(400, "bad_request");
}

#[test]
fn a_question_says_what_a_rule_for_it_and_nothing_else_has_to_say() {
    let (broker, browser) = started("");
    let agent = broker.join("cursor");
    let confirm = json!({ "type": "confirm", "text": "Really **all**?", "confirm_label": "Yes, drop", "cancel_label": "No" });
    let asked = broker.ask_payload(&agent, "Drop *.log?", &confirm);
    let exact = browser.get(&format!("/cues/{}/rule", asked.cue)).ok(200);
    assert_eq!(
        (&exact["project"], &exact["payload"]),
        (&json!("/home/me/shop"), &json!("confirm"))
    );
    let body = json!({ "name": "drop", "says": exact["says"], "payload": "confirm", "confirm": true, "until": in_days(1) });
    browser.post("/policies", &body).ok(201);
    let other = broker.join("codex");
    let mut same = broker.ask_payload(&other, "Drop *.log?", &confirm);
    assert_eq!(same.told().text, "Yes, drop");
    let more = broker.ask_payload(&broker.join("codex"), "Drop all.log?", &confirm);
    eventually("the rule has answered", || {
        (browser.get("/policies").ok(200)["policies"][0]["answered"] == 1).then_some(())
    });
    assert_eq!(
        browser.get(&format!("/cues/{}", more.cue)).ok(200)["outcome"],
        "open"
    );
}
