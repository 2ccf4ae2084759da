//! Earlier answers of the same project are offered: those of humans, and nothing else.

use cueme_test_kit::eventually;
use protocol_spec::id::{AgentId, CueId};
use serde_json::{Value, json};

use crate::harness::{Browser, TestBroker};

fn join_in(broker: &TestBroker, project_dir: &str) -> AgentId {
    broker.connect().join("cursor", project_dir)
}

fn precedent(browser: &Browser, cue: CueId) -> Value {
    browser.get(&format!("/cues/{cue}")).ok(200)["precedent"].clone()
}

/// Asks, and answers as a human.
fn answered(broker: &TestBroker, browser: &Browser, agent: &AgentId, prompt: &str, answer: &Value) -> CueId {
    let mut waiting = broker.ask(agent, prompt);
    browser.answer(waiting.cue, answer, 0).ok(200);
    waiting.told();
    waiting.ack();
    waiting.cue
}

#[test]
fn the_closest_answer_of_a_human_in_the_same_project_is_offered() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let (here, beside, elsewhere) = (
        join_in(&broker, "/home/me/shop"),
        join_in(&broker, "/home/me/shop"),
        join_in(&broker, "/home/me/other"),
    );
    let question = "Node 20 leaves support in April. Move CI to Node 22 now?";
    let other = answered(
        &broker,
        &browser,
        &elsewhere,
        question,
        &json!({ "text": "elsewhere" }),
    );
    let asked = broker.ask(&here, question);
    assert_eq!(
        precedent(&browser, asked.cue),
        Value::Null,
        "{other} is of another project"
    );
    let like = "Node 18 leaves support in April. Move CI to Node 20 now?";
    let past = answered(
        &broker,
        &browser,
        &beside,
        like,
        &json!({ "text": "yes, one pull request each" }),
    );
    answered(
        &broker,
        &browser,
        &beside,
        "Which colour has the button?",
        &json!({ "text": "blue" }),
    );
    let found = precedent(&browser, asked.cue);
    assert_eq!(found["cue_id"], json!(past));
    assert_eq!(found["answer"]["text"], "yes, one pull request each");
    assert_eq!(
        (&found["is_same"], &found["agent_id"]),
        (&json!(false), &json!(beside))
    );
    assert!(found["decided_at"].is_string());
    // A question that is decided needs none.
    browser.answer(asked.cue, &json!({ "text": "done" }), 0).ok(200);
    assert_eq!(precedent(&browser, asked.cue), Value::Null);
}

#[test]
fn rules_queued_answers_and_secrets_are_no_precedent() {
    let broker =
        TestBroker::with_config("[[policy]]\nname = \"go on\"\ntext = \"Go on\\\\?\"\nanswer = \"Yes.\"\n");
    let browser = broker.sign_in();
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 0 }))
        .ok(200);
    let agent = broker.join("cursor");
    let mut automatic = broker.ask(&agent, "Go on?");
    assert_eq!(automatic.told().text, "Yes.");
    automatic.ack();
    let form = json!({ "type": "form", "fields": [{ "label": "Key", "kind": "password" }] });
    let mut secret = broker.ask_payload(&agent, "Which key?", &form);
    let reply = json!({ "reply": { "type": "form", "fields": [{ "label": "Key", "values": ["hunter2"] }] } });
    browser.answer(secret.cue, &reply, 0).ok(200);
    secret.told();
    secret.ack();
    browser
        .send("PATCH", "/settings", &json!({ "policies": false }))
        .ok(200);
    for again in [
        broker.ask(&agent, "Go on?"),
        broker.ask_payload(&agent, "Which key?", &form),
    ] {
        let shown = browser.get(&format!("/cues/{}", again.cue));
        assert!(!shown.text().contains("hunter2"));
        assert_eq!(precedent(&browser, again.cue), Value::Null);
    }
}

#[test]
fn an_answer_that_can_still_be_taken_back_is_no_precedent_yet() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let (first, second) = (broker.join("cursor"), broker.join("cursor"));
    let waiting = broker.ask(&first, "Ship it?");
    browser
        .answer(waiting.cue, &json!({ "text": "yes" }), 1500)
        .ok(200);
    let asked = broker.ask(&second, "Ship it?");
    assert_eq!(precedent(&browser, asked.cue), Value::Null);
    eventually("the answer is settled", || {
        let found = precedent(&browser, asked.cue);
        (found["is_same"] == true).then_some(())
    });
}

#[test]
fn the_same_words_with_other_buttons_or_fields_are_a_question_like_it_and_not_the_same() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let choice =
        |options: [&str; 2]| json!({ "type": "choice", "options": options, "allow_multiple": false });
    let mut waiting = broker.ask_payload(&agent, "Which database?", &choice(["SQLite", "PostgreSQL"]));
    let reply = json!({ "reply": { "type": "choice", "selected": ["SQLite"] } });
    browser.answer(waiting.cue, &reply, 0).ok(200);
    waiting.told();
    waiting.ack();
    for (options, is_same) in [
        (["SQLite", "PostgreSQL"], true),
        (["PostgreSQL", "SQLite"], false),
    ] {
        let asked = broker.ask_payload(&agent, "Which database?", &choice(options));
        assert_eq!(
            precedent(&browser, asked.cue)["is_same"],
            json!(is_same),
            "{options:?}"
        );
        browser
            .answer(asked.cue, &json!({ "text": "done" }), 60_000)
            .ok(200);
    }
}
