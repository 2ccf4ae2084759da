//! Agents over HTTP.

use protocol_spec::message::{NAME_BYTES_MAX, TokenScope};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Browser, TestBroker};
use cueme_test_kit::{Answer, Http};

struct Remote {
    port: u16,
    bearer: String,
}

impl Remote {
    fn new(broker: &TestBroker, token: &str) -> Self {
        Self {
            port: broker.port,
            bearer: format!("Bearer {token}"),
        }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let host = Http::new(self.port).host();
        let headers = [
            ("host", host.as_str()),
            ("authorization", &self.bearer),
            ("content-type", "application/json"),
        ];
        Http::new(self.port).send(
            method,
            &format!("/api/v1/hap{path}"),
            &headers,
            body.to_string().as_bytes(),
        )
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body)
    }

    fn join(&self, session: &str) -> String {
        let joined = self
            .post(
                "/join",
                &json!({ "runtime": "cloud", "project_dir": "/repo", "session": session }),
            )
            .ok(201);
        joined["agent_id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn an_agent_far_away_joins_asks_waits_and_acknowledges() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let remote = Remote::new(&broker, &broker.token(TokenScope::Join, None));
    let agent = remote.join("s1");
    assert_eq!(remote.join("s1"), agent);
    let ask = json!({ "id": Uuid::now_v7(), "agent_id": agent, "prompt": "Merge?", "payload": { "type": "confirm" }, "wait_ms": 50 });
    let open = remote.post("/cue", &ask).ok(202);
    assert_eq!(open["state"], "open");
    let cue = open["cue_id"].as_str().unwrap().to_owned();
    assert_eq!(remote.post("/cue", &ask).ok(202)["cue_id"], json!(cue));
    broker.kill_and_restart();
    let waiting = std::thread::spawn({
        let (port, bearer, cue) = (broker.port, remote.bearer.clone(), cue.clone());
        move || {
            Remote { port, bearer }
                .send("GET", &format!("/cues/{cue}?wait_ms=15000"), &json!({}))
                .ok(200)
        }
    });
    let reply = json!({ "reply": { "type": "confirm", "confirmed": true } });
    cueme_test_kit::eventually("somebody waits", || {
        (browser.get(&format!("/cues/{cue}")).ok(200)["waiting"] == 1).then_some(())
    });
    browser.answer(cue.parse().unwrap(), &reply, 0).ok(200);
    let heard = waiting.join().unwrap();
    assert_eq!(
        (&heard["state"], &heard["told"]["text"]),
        (&json!("decided"), &json!("Confirm"))
    );
    assert_eq!(
        remote.post("/ack", &json!({ "cue_ids": [cue] })).ok(200)["cue_ids"],
        json!([cue])
    );
    assert_eq!(
        browser.get(&format!("/cues/{cue}")).ok(200)["delivery"],
        "acknowledged"
    );
    let recalled = remote.post("/recall", &json!({ "hints": "merge" })).ok(200);
    assert_eq!(recalled["matches"][0]["agent_id"], json!(agent));
}

#[test]
fn a_token_that_is_revoked_while_it_waits_does_not_get_the_answer() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let remote = Remote::new(&broker, &broker.token(TokenScope::Join, None));
    let agent = remote.join("s1");
    let ask = json!({ "id": Uuid::now_v7(), "agent_id": agent, "prompt": "Secret?", "wait_ms": 1 });
    let cue = remote.post("/cue", &ask).ok(202)["cue_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let waiting = std::thread::spawn({
        let (port, bearer, cue) = (broker.port, remote.bearer.clone(), cue.clone());
        move || {
            let path = format!("/cues/{cue}?wait_ms=50000");
            Remote { port, bearer }.send("GET", &path, &json!({}))
        }
    });
    cueme_test_kit::eventually("somebody waits", || {
        (browser.get(&format!("/cues/{cue}")).ok(200)["waiting"] == 1).then_some(())
    });
    let listed = browser.get("/tokens").ok(200);
    let token = listed["tokens"][0]["token_id"].as_str().unwrap();
    browser.delete(&format!("/tokens/{token}")).ok(204);
    browser
        .answer(cue.parse().unwrap(), &json!({ "text": "for nobody" }), 0)
        .ok(200);
    let heard = waiting.join().unwrap();
    assert!(!heard.text().contains("for nobody"), "{heard:?}");
    heard.ok(401);
}

#[test]
fn a_session_without_a_name_or_with_an_endless_one_is_refused() {
    let broker = TestBroker::start();
    let remote = Remote::new(&broker, &broker.token(TokenScope::Join, None));
    let join = |session: &str| remote.post("/join", &json!({ "runtime": "cloud", "session": session }));
    let longest = "s".repeat(NAME_BYTES_MAX);
    for (session, status) in [("", 400), (" \n", 400), (&*format!("{longest}s"), 413)] {
        join(session).ok(status);
    }
    let agents = broker.sign_in().get("/agents").ok(200);
    assert_eq!(agents["agents"], json!([]), "nobody joined");
    let first = join(&longest).ok(201);
    assert_eq!(join(&longest).ok(201)["agent_id"], first["agent_id"]);
}

#[test]
fn an_envelope_and_a_pause_work_too_and_earlier_outcomes_come_first() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let remote = Remote::new(&broker, &broker.token(TokenScope::Join, None));
    let agent = remote.join("s1");
    let envelope = "<cueme_prompt>\nWhich?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"choice\",\"options\":[\"A\"]}\n</cueme_payload>";
    let asked = remote
        .post(
            "/cue",
            &json!({ "id": Uuid::now_v7(), "agent_id": agent, "envelope": envelope, "wait_ms": 0 }),
        )
        .ok(202);
    let cue = asked["cue_id"].as_str().unwrap();
    browser
        .answer(
            cue.parse().unwrap(),
            &json!({ "reply": { "type": "choice", "selected": ["A"] } }),
            0,
        )
        .ok(200);
    let pause = remote
        .post(
            "/pause",
            &json!({ "id": Uuid::now_v7(), "agent_id": agent, "wait_ms": 0 }),
        )
        .ok(200);
    assert_eq!(
        (&pause["state"], &pause["earlier"][0]["text"]),
        (&json!("mailbox"), &json!("A"))
    );
    for wrong in [
        json!({ "id": Uuid::now_v7(), "agent_id": agent }),
        json!({ "id": Uuid::now_v7(), "agent_id": agent, "prompt": " " }),
        json!({ "id": Uuid::now_v7(), "agent_id": agent, "envelope": "no blocks" }),
        json!({ "id": Uuid::now_v7(), "agent_id": agent, "prompt": "x", "payload": { "type": "poll" } }),
    ] {
        remote.post("/cue", &wrong).refused(400, "bad_request");
    }
}

#[test]
fn a_token_acts_for_its_own_agents_only() {
    let broker = TestBroker::start();
    let local = broker.join("cursor");
    let waiting = broker.ask(&local, "A secret question?");
    let (mine, other) = (
        Remote::new(&broker, &broker.token(TokenScope::Join, None)),
        Remote::new(&broker, &broker.token(TokenScope::Join, None)),
    );
    let agent = mine.join("s1");
    assert_ne!(
        other.join("s1"),
        agent,
        "sessions of different tokens are different"
    );
    let single = Remote::new(&broker, &broker.token(TokenScope::Agent, Some(&local)));
    let ask = |agent: &str| json!({ "id": Uuid::now_v7(), "agent_id": agent, "prompt": "x", "wait_ms": 0 });
    other.post("/cue", &ask(&agent)).refused(404, "unknown_agent");
    mine.post("/cue", &ask(local.as_str()))
        .refused(404, "unknown_agent");
    single.post("/cue", &ask(&agent)).refused(404, "unknown_agent");
    single.post("/cue", &ask(local.as_str())).ok(202);
    single
        .post("/join", &json!({ "runtime": "x" }))
        .refused(403, "forbidden");
    for remote in [&mine, &other] {
        remote
            .send("GET", &format!("/cues/{}", waiting.cue), &json!({}))
            .refused(404, "unknown_cue");
        remote
            .post("/ack", &json!({ "cue_ids": [waiting.cue.to_string()] }))
            .refused(404, "unknown_cue");
        let recalled = remote
            .post("/recall", &json!({ "hints": "secret question cursor" }))
            .ok(200);
        assert_eq!(recalled["matches"], json!([]));
    }
    // A human's keys do not open what is the agents'.
    let human = Remote::new(&broker, &broker.token(TokenScope::Human, None));
    human
        .post("/join", &json!({ "runtime": "x" }))
        .refused(403, "forbidden");
}

#[test]
fn a_token_shows_its_last_use_and_opens_nothing_once_it_has_expired() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    for (seconds, status) in [(59, 400), (60, 201), (366 * 24 * 3600 * 10 + 1, 400)] {
        let body = json!({ "scope": "join", "expires_in": seconds });
        assert_eq!(browser.post("/tokens", &body).status, status, "{seconds} s");
    }
    let body = json!({ "scope": "join", "name": "ci", "expires_in": 3600 });
    let made = browser.post("/tokens", &body).ok(201);
    let remote = Remote::new(&broker, made["token"].as_str().unwrap());
    let listed = |browser: &Browser| -> Value {
        let tokens = browser.get("/tokens").ok(200)["tokens"].clone();
        let named = tokens
            .as_array()
            .unwrap()
            .iter()
            .find(|token| token["name"] == "ci");
        named.unwrap().clone()
    };
    remote.join("s1");
    assert_eq!(
        listed(&browser)["used_at"],
        Value::Null,
        "its first minute is not recorded"
    );

    broker.sql("UPDATE tokens SET created_at = created_at - 60000");
    broker.kill_and_restart();
    remote.join("s1");
    let used = listed(&browser);
    assert!(
        used["used_at"].is_string() || used["used_at"].is_number(),
        "{used}"
    );
    assert_eq!(used["expires_at"], made["expires_at"]);
    broker.kill_and_restart();
    assert_eq!(listed(&browser)["used_at"], used["used_at"], "it was stored");

    broker.sql("UPDATE tokens SET expires_at = created_at");
    broker.kill_and_restart();
    remote
        .post("/join", &json!({ "runtime": "x" }))
        .refused(401, "expired");
    assert_eq!(
        listed(&browser)["used_at"],
        used["used_at"],
        "a refused use is none"
    );
}

#[test]
fn tokens_are_listed_without_their_secret_and_revoked() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let made = browser
        .post("/tokens", &json!({ "scope": "join", "name": "ci" }))
        .ok(201);
    let remote = Remote::new(&broker, made["token"].as_str().unwrap());
    remote.join("s1");
    let listed = browser.get("/tokens").ok(200);
    assert!(!listed.to_string().contains(made["token"].as_str().unwrap()));
    assert_eq!(
        browser
            .delete(&format!("/tokens/{}", made["token_id"].as_str().unwrap()))
            .status,
        204
    );
    remote
        .post("/join", &json!({ "runtime": "x" }))
        .refused(401, "unauthenticated");
    browser
        .post("/tokens", &json!({ "scope": "human" }))
        .refused(400, "bad_request");
    browser
        .post("/tokens", &json!({ "scope": "agent" }))
        .refused(400, "bad_request");
}
