//! A human's settings for an agent, and the messages that wait for it.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::TestBroker;

#[test]
fn agents_are_named_pinned_archived_and_surface_when_they_ask() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let path = format!("/agents/{agent}");
    let patched = browser
        .send(
            "PATCH",
            &path,
            &json!({ "name": "  Shop ", "pinned": true, "archived": true }),
        )
        .ok(200);
    assert_eq!(
        (&patched["name"], &patched["pinned"], &patched["archived"]),
        (&json!("Shop"), &json!(true), &json!(true))
    );
    broker.kill_and_restart();
    assert_eq!(browser.get(&path).ok(200)["archived"], true);
    let _waiting = broker.ask(&agent, "Anyone?");
    let shown = browser.get(&path).ok(200);
    assert_eq!(
        (&shown["archived"], &shown["pinned"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(
        browser.send("PATCH", &path, &json!({ "name": null })).ok(200)["name"],
        Value::Null
    );
    browser
        .send("PATCH", "/agents/none-none", &json!({ "pinned": true }))
        .refused(404, "unknown_agent");
    browser
        .send("PATCH", &path, &json!({ "name": "x".repeat(300) }))
        .refused(413, "too_large");
    browser
        .send("PATCH", &path, &json!({ "colour": "red" }))
        .refused(400, "bad_request");
}

#[test]
fn a_standing_instruction_is_part_of_each_answer_and_labelled() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let path = format!("/agents/{agent}");
    browser
        .send(
            "PATCH",
            &path,
            &json!({ "standing": "Analysis only, change nothing." }),
        )
        .ok(200);
    let expected = "go\n\n[standing instruction, sent with every answer]\nAnalysis only, change nothing.";
    for _ in 0..2 {
        let mut waiting = broker.ask(&agent, "Now?");
        browser.answer(waiting.cue, &json!({ "text": "go" }), 0).ok(200);
        assert_eq!(waiting.told().text, expected);
        waiting.ack();
        broker.kill_and_restart();
    }
    browser.send("PATCH", &path, &json!({ "standing": null })).ok(200);
    let mut waiting = broker.ask(&agent, "Now?");
    browser.answer(waiting.cue, &json!({ "text": "go" }), 0).ok(200);
    assert_eq!(waiting.told().text, "go");
}

#[test]
fn messages_are_queued_reordered_reworded_and_deleted() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let send = |text: &str| {
        let body = json!({ "id": Uuid::now_v7(), "agents": [agent.to_string()], "text": text });
        browser.post("/messages", &body).ok(200)["results"][0]["message_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (first, second, third) = (send("one"), send("two"), send("three"));
    let path = format!("/agents/{agent}/messages");
    let texts = |list: &Value| -> Vec<String> {
        list["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let order = |ids: &[&String]| browser.send("PUT", &format!("{path}/order"), &json!({ "messages": ids }));
    assert_eq!(
        texts(&order(&[&third, &first, &second]).ok(200)),
        ["three", "one", "two"]
    );
    order(&[&third, &first]).refused(409, "stale_order");
    order(&[&third, &third, &first]).refused(409, "stale_order");
    browser
        .send("PATCH", &format!("{path}/{first}"), &json!({ "text": "ONE" }))
        .ok(200);
    assert_eq!(browser.delete(&format!("{path}/{second}")).status, 204);
    browser
        .delete(&format!("{path}/{second}"))
        .refused(404, "not_found");
    browser
        .delete(&format!("{path}/nonsense"))
        .refused(404, "not_found");
    broker.kill_and_restart();
    let fourth = send("four");
    assert_eq!(texts(&browser.get(&path).ok(200)), ["three", "ONE", "four"]);
    let mut waiting = broker.ask(&agent, "What now?");
    browser.answer(waiting.cue, &json!({ "text": "go" }), 0).ok(200);
    let text = waiting.told().text;
    let places: Vec<usize> = ["three", "ONE", "four"]
        .iter()
        .map(|word| text.find(word).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    browser
        .delete(&format!("{path}/{fourth}"))
        .refused(404, "not_found");
    assert_eq!(browser.get(&path).ok(200)["messages"], json!([]));
}

#[test]
fn one_message_goes_to_several_agents_once_each() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agents = [broker.join("cursor"), broker.join("codex")];
    let names = [
        agents[0].to_string(),
        agents[1].to_string(),
        "none-none".to_owned(),
    ];
    let body = json!({ "id": Uuid::now_v7(), "agents": names, "text": "Stop for today." });
    for _ in 0..2 {
        let results = browser.post("/messages", &body).ok(200)["results"].clone();
        assert_eq!(
            (&results[0]["queued"], &results[1]["queued"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(results[2]["error"]["code"], "unknown_agent");
    }
    let mut waiting = broker.ask(&agents[1], "Next?");
    browser.answer(waiting.cue, &json!({ "text": "go" }), 0).ok(200);
    assert!(waiting.told().text.contains("Stop for today."));
    waiting.ack();
    // Sent again after it was delivered, it is not delivered again.
    browser.post("/messages", &body).ok(200);
    assert_eq!(
        browser.get(&format!("/agents/{}", agents[1])).ok(200)["queued"],
        0
    );
    browser
        .post(
            "/messages",
            &json!({ "id": Uuid::now_v7(), "agents": [], "text": "x" }),
        )
        .refused(400, "bad_request");
    browser
        .post(
            "/messages",
            &json!({ "id": Uuid::now_v7(), "agents": names, "text": " " }),
        )
        .refused(400, "bad_request");
}

#[test]
fn the_page_says_whether_a_message_is_a_note_or_an_answer_for_the_next_question() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let send = |purpose: &str| {
        let body = json!({
            "id": Uuid::now_v7(), "agents": [agent.to_string()], "text": format!("as {purpose}"), "purpose": purpose,
        });
        browser.post("/messages", &body)
    };
    send("note").ok(200);
    let queued = send("queued_answer").ok(200);
    assert_eq!(
        (&queued["results"][0]["queued"], &queued["results"][0]["waiting"]),
        (&json!(2), &json!(0))
    );
    send("whatever").refused(400, "bad_request");
    let list = browser.get(&format!("/agents/{agent}/messages")).ok(200);
    let purposes: Vec<&Value> = list["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["purpose"])
        .collect();
    assert_eq!(purposes, ["note", "queued_answer"]);
    let mut waiting = broker.ask(&agent, "Deploy to production?");
    let text = waiting.told().text;
    assert!(
        text.starts_with("[the human has not seen this question"),
        "{text}"
    );
    assert!(text.ends_with("[queued answer]\nas queued_answer"), "{text}");
    let cue = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    assert_eq!(
        (&cue["from_queue"], &cue["outcome"]),
        (&json!(true), &json!("answered"))
    );
    let card = browser.get(&format!("/agents/{agent}")).ok(200);
    assert_eq!(
        (&card["unread"], &card["last"]["from_queue"]),
        (&json!(1), &json!(true))
    );
}
