//! Answering, while a real client waits.

use std::time::Duration;

use protocol_spec::outcome::{Kind, Origin, Outcome};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::TestBroker;
use cueme_test_kit::eventually;

#[test]
fn every_kind_of_question_is_answered_in_its_own_way() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let form = json!({ "type": "form", "fields": [
        { "label": "Env", "options": ["prod", "staging"] },
        { "label": "Key", "kind": "password" },
    ]});
    let cases: [(Value, Value, &str); 4] = [
        (Value::Null, json!({ "text": "go on" }), "go on"),
        (
            json!({ "type": "choice", "options": ["A", "B"], "allow_multiple": true }),
            json!({ "reply": { "type": "choice", "selected": ["B"], "other": "C" } }),
            "B\n\nC",
        ),
        (
            json!({ "type": "confirm", "confirm_label": "Ship", "cancel_label": "Wait" }),
            json!({ "reply": { "type": "confirm", "confirmed": false }, "text": "not yet" }),
            "Wait\n\nnot yet",
        ),
        (
            form,
            json!({ "reply": { "type": "form", "fields": [
                { "label": "Env", "values": ["prod"] }, { "label": "Key", "values": ["s3cret"] },
            ] } }),
            "Env: prod\nKey: s3cret",
        ),
    ];
    for (payload, answer, expected) in cases {
        let mut waiting = match &payload {
            Value::Null => broker.ask(&agent, "What now?"),
            payload => broker.ask_payload(&agent, "What now?", payload),
        };
        let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
        assert_eq!(
            (shown["outcome"].as_str(), shown["waiting"].as_u64()),
            (Some("open"), Some(1))
        );
        let decided = browser.answer(waiting.cue, &answer, 0).ok(200);
        assert_eq!(
            (decided["handed_to"].as_u64(), &decided["released_at"]),
            (Some(1), &Value::Null)
        );
        let told = waiting.told();
        assert_eq!((told.text.as_str(), told.outcome), (expected, Outcome::Answered));
        waiting.ack();
        let after = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
        assert_eq!(after["delivery"], "acknowledged");
        assert!(!after.to_string().contains("s3cret"), "{after}");
    }
    let mut pause = broker.ask_with(&agent, Kind::Pause, "Paused", None, Origin::Agent);
    browser
        .answer(pause.cue, &json!({ "reply": { "type": "continue" } }), 0)
        .ok(200);
    assert_eq!(pause.told().text, "Continue");
    let mut declined = broker.ask(&agent, "May I?");
    let body = json!({ "id": Uuid::now_v7(), "reason": "too risky", "hold_ms": 0 });
    browser
        .post(&format!("/cues/{}/decline", declined.cue), &body)
        .ok(200);
    assert_eq!(declined.told().text, "declined: too risky");
    let mut closed = broker.ask(&agent, "Never mind?");
    browser
        .post(
            &format!("/cues/{}/cancel", closed.cue),
            &json!({ "id": Uuid::now_v7(), "hold_ms": 0 }),
        )
        .ok(200);
    assert_eq!(closed.told().outcome, Outcome::Cancelled);
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_the_question_stays() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask_payload(
        &agent,
        "Which?",
        &json!({ "type": "choice", "options": ["A", "B"] }),
    );
    let wrong = [
        json!({}),
        json!({ "text": "   " }),
        json!({ "reply": { "type": "choice", "selected": ["C"] } }),
        json!({ "reply": { "type": "choice", "selected": ["A", "B"] } }),
        json!({ "reply": { "type": "confirm", "confirmed": true } }),
    ];
    for answer in wrong {
        browser
            .answer(waiting.cue, &answer, 0)
            .refused(400, "invalid_answer");
    }
    let path = format!("/cues/{}/answer", waiting.cue);
    browser
        .post(&path, &json!({ "answer": { "text": "x" } }))
        .refused(400, "bad_request");
    browser
        .post(
            &path,
            &json!({ "id": Uuid::now_v7(), "answer": { "text": "x" }, "extra": 1 }),
        )
        .refused(400, "bad_request");
    browser
        .answer("000000000000".parse().unwrap(), &json!({ "text": "x" }), 0)
        .refused(404, "unknown_cue");
    assert_eq!(
        browser.get(&format!("/cues/{}", waiting.cue)).ok(200)["outcome"],
        "open"
    );
}

#[test]
fn of_two_humans_the_first_wins_and_the_second_is_told_who_said_what() {
    let broker = TestBroker::start();
    let agent = broker.join("cursor");
    for round in 0..10 {
        let mut waiting = broker.ask(&agent, &format!("Question {round}?"));
        let humans: Vec<_> = ["yes", "no"]
            .map(|word| {
                let browser = broker.sign_in();
                let cue = waiting.cue;
                std::thread::spawn(move || (word, browser.answer(cue, &json!({ "text": word }), 0)))
            })
            .into_iter()
            .map(|human| human.join().unwrap())
            .collect();
        let won: Vec<_> = humans.iter().filter(|(_, answer)| answer.status == 200).collect();
        assert_eq!(won.len(), 1);
        let lost = humans.iter().find(|(_, answer)| answer.status != 200).unwrap();
        let error = lost.1.refused(409, "already_decided");
        assert_eq!(
            (error["details"]["text"].as_str(), &error["details"]["outcome"]),
            (Some(won[0].0), &json!("answered"))
        );
        assert!(
            error["details"]["by"].as_str().unwrap().contains("browser"),
            "{error}"
        );
        assert_eq!(waiting.told().text, won[0].0);
        waiting.ack();
    }
}

#[test]
fn sending_the_same_decision_again_changes_nothing() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut waiting = broker.ask(&agent, "Go?");
    let path = format!("/cues/{}/answer", waiting.cue);
    let body = json!({ "id": Uuid::now_v7(), "answer": { "text": "yes" }, "hold_ms": 0 });
    let first = browser.post(&path, &body).ok(200);
    let second = browser.post(&path, &body).ok(200);
    assert_eq!(first["outcome"], second["outcome"]);
    waiting.told();
    waiting.ack();
    browser.post(&path, &body).ok(200);
}

#[test]
fn an_answer_can_be_taken_back_and_its_draft_is_there() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut waiting = broker.ask(&agent, "Go?");
    let decided = browser
        .answer(waiting.cue, &json!({ "text": "yes" }), 60_000)
        .ok(200);
    assert!(decided["released_at"].is_string());
    let undone = browser
        .post(&format!("/cues/{}/undo", waiting.cue), &json!({}))
        .ok(200);
    assert_eq!(undone["draft"]["body"]["text"], "yes");
    let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    assert_eq!(
        (shown["outcome"].as_str(), &shown["draft"]["body"]["text"]),
        (Some("open"), &json!("yes"))
    );
    browser.answer(waiting.cue, &json!({ "text": "no" }), 0).ok(200);
    assert_eq!(waiting.told().text, "no");
    browser
        .post(&format!("/cues/{}/undo", waiting.cue), &json!({}))
        .refused(409, "already_released");
}

#[test]
fn a_held_answer_survives_a_kill_and_can_still_be_taken_back() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let first = broker.ask(&agent, "First?");
    let second = broker.ask(&agent, "Second?");
    browser
        .answer(first.cue, &json!({ "text": "taken back" }), 60_000)
        .ok(200);
    browser
        .answer(second.cue, &json!({ "text": "released" }), 1500)
        .ok(200);
    broker.kill_and_restart();
    let undone = browser
        .post(&format!("/cues/{}/undo", first.cue), &json!({}))
        .ok(200);
    assert_eq!(undone["draft"]["body"]["text"], "taken back");
    let mut waiting = broker.attach(second.cue);
    assert_eq!(waiting.told().text, "released");
    assert_eq!(
        browser.get(&format!("/cues/{}", first.cue)).ok(200)["outcome"],
        "open"
    );
}

#[test]
fn a_held_answer_reaches_the_agent_when_its_time_has_come() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut waiting = broker.ask(&agent, "Go?");
    let mut events = browser.events(None);
    events.until("ready");
    let started = std::time::Instant::now();
    browser
        .answer(waiting.cue, &json!({ "text": "yes" }), 700)
        .ok(200);
    assert_eq!(waiting.told().text, "yes");
    assert!(started.elapsed() >= Duration::from_millis(650));
    events.until_change("released");
}

#[test]
fn drafts_are_kept_and_two_devices_do_not_overwrite_each_other() {
    let mut broker = TestBroker::start();
    let (laptop, phone) = (broker.sign_in(), broker.sign_in());
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Go?");
    let path = format!("/cues/{}/draft", waiting.cue);
    let mut events = phone.events(None);
    events.until("ready");
    let first = laptop
        .send("PUT", &path, &json!({ "rev": 0, "body": { "text": "I thi" } }))
        .ok(200);
    assert_eq!(first["rev"], 1);
    let notice = events.until("notice");
    assert_eq!(
        (notice.data["what"].as_str(), &notice.data["rev"]),
        (Some("draft"), &json!(1))
    );
    let stale = phone.send("PUT", &path, &json!({ "rev": 0, "body": { "text": "other" } }));
    let error = stale.refused(409, "stale_draft");
    assert_eq!(error["details"]["body"]["text"], "I thi");
    phone
        .send("PUT", &path, &json!({ "rev": 1, "body": { "text": "I think" } }))
        .ok(200);
    broker.kill_and_restart();
    let shown = phone.get(&format!("/cues/{}", waiting.cue)).ok(200);
    assert_eq!(
        (&shown["draft"]["body"]["text"], &shown["draft"]["rev"]),
        (&json!("I think"), &json!(2))
    );
    assert_eq!(laptop.delete(&path).status, 204);
    assert_eq!(
        laptop.get(&format!("/cues/{}", waiting.cue)).ok(200)["draft"],
        Value::Null
    );
    let message = format!("/agents/{agent}/draft");
    laptop
        .send("PUT", &message, &json!({ "rev": 0, "body": { "text": "later" } }))
        .ok(200);
    assert_eq!(
        phone.get(&format!("/agents/{agent}")).ok(200)["draft"]["body"]["text"],
        "later"
    );
    laptop
        .send(
            "PUT",
            "/cues/000000000000/draft",
            &json!({ "rev": 0, "body": {} }),
        )
        .refused(404, "unknown_cue");
}

#[test]
fn a_password_never_stays_in_a_draft() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let payload =
        json!({ "type": "form", "fields": [{ "label": "User" }, { "label": "Key", "kind": "password" }] });
    let waiting = broker.ask_payload(&agent, "Log in", &payload);
    let fields = json!([{ "label": "User", "values": ["ann"] }, { "label": "Key", "values": ["s3cret"] }]);
    let body = json!({ "reply": { "type": "form", "fields": fields } });
    browser
        .send(
            "PUT",
            &format!("/cues/{}/draft", waiting.cue),
            &json!({ "rev": 0, "body": body }),
        )
        .ok(200);
    browser.answer(waiting.cue, &body, 60_000).ok(200);
    let undone = browser
        .post(&format!("/cues/{}/undo", waiting.cue), &json!({}))
        .ok(200);
    assert!(
        undone.to_string().contains("ann") && !undone.to_string().contains("s3cret"),
        "{undone}"
    );
    let stored = broker.everything();
    let drafts: String = stored.lines().filter(|line| line.starts_with("drafts")).collect();
    assert!(!drafts.contains("s3cret"));
}

#[test]
fn the_page_says_truthfully_whether_anyone_listens() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Go?");
    let cue = waiting.cue;
    let state = |wanted: &str| {
        eventually(wanted, || {
            let agents = browser.get("/agents").ok(200)["agents"].clone();
            (agents[0]["state"] == wanted).then(|| agents[0].clone())
        })
    };
    assert_eq!(state("waiting")["open"][0]["waiting"], 1);
    drop(waiting);
    assert!(state("detached")["open"][0]["detached_at"].is_string());
    let decided = browser.answer(cue, &json!({ "text": "yes" }), 0).ok(200);
    assert_eq!(decided["handed_to"], 0);
    let mut again = broker.ask(&agent, "Go?");
    assert_eq!(again.cue, cue);
    assert_eq!(again.told().text, "yes");
    again.ack();
    assert_eq!(state("working")["last"]["delivery"], "acknowledged");
}
