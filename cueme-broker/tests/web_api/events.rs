//! The stream of events: nothing missing, nothing twice, and no listener delayed.

use protocol_spec::id::CueId;
use protocol_spec::message::{Attach, Request};
use serde_json::json;

use crate::harness::TestBroker;
use cueme_test_kit::{Http, eventually};

fn attach(cue: CueId) -> Request {
    Request::Attach(Attach {
        cue_id: cue,
        nonce: None,
    })
}

#[test]
fn whoever_was_away_catches_up_without_a_gap() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut events = browser.events(Some(0));
    let mut seen: Vec<i64> = Vec::new();
    let mut asked = 0;
    while asked < 50 {
        broker.ask(&agent, &format!("Question {asked}?"));
        asked += 1;
    }
    while seen.len() < 20 {
        let event = events.next().unwrap();
        if event.name == "change" {
            seen.push(event.id.unwrap());
        }
    }
    drop(events);
    while asked < 80 {
        broker.ask(&agent, &format!("Question {asked}?"));
        asked += 1;
    }
    broker.kill_and_restart();
    let mut events = browser.events(seen.last().copied());
    loop {
        let event = events.next().unwrap();
        match event.name.as_str() {
            "change" => seen.push(event.id.unwrap()),
            "ready" => {
                assert_eq!(event.data["newest"], json!(seen.last().unwrap()));
                break;
            }
            other => panic!("{other}"),
        }
    }
    broker.ask(&agent, "One more?");
    seen.push(events.until("change").id.unwrap());
    let all: Vec<i64> = (1..=*seen.last().unwrap()).collect();
    assert_eq!(seen, all);
}

#[test]
fn what_cannot_be_told_any_more_begins_with_reading_anew() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    broker.join("cursor");
    let mut events = browser.events(Some(9_999_999));
    let first = events.next().unwrap();
    assert_eq!(
        (first.name.as_str(), &first.data["newest"]),
        ("resync", &json!(1))
    );
    assert_eq!(events.next().unwrap().name, "ready");
}

#[test]
fn numbers_beyond_what_there_can_be_are_refused_or_find_nothing() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "How far?");
    for after in ["-9223372036854775808", "-1", "9223372036854775808", "x"] {
        browser
            .get(&format!("/events?after={after}"))
            .refused(400, "bad_request");
    }
    // It is the browser that repeats this one, but anybody can write it.
    let host = format!("127.0.0.1:{}", broker.port);
    let headers = [
        ("host", host.as_str()),
        ("cookie", &browser.cookie),
        ("last-event-id", "-9223372036854775808"),
    ];
    Http::new(broker.port)
        .send("GET", "/api/v1/events", &headers, b"")
        .refused(400, "bad_request");
    let far = browser.events(Some(i64::MAX)).next().unwrap();
    assert_eq!(far.name, "resync");
    let cue = waiting.cue;
    for edge in ["-9223372036854775808", "9223372036854775807"] {
        for path in [
            format!("/agents/{agent}/timeline?before={edge}"),
            format!("/search?q=far&before={edge}"),
        ] {
            browser.get(&path).ok(200);
        }
        let path = format!("/agents/{agent}/read");
        let mark: i64 = edge.parse().unwrap();
        browser.send("PUT", &path, &json!({ "seq": mark })).ok(204);
    }
    for path in [
        format!("/cues/{cue}/prompt?from=18446744073709551615"),
        format!("/agents/{agent}/timeline?limit=4294967295"),
        "/search?q=far&limit=4294967295".to_owned(),
    ] {
        browser.get(&path).ok(200);
    }
}

#[test]
fn whoever_does_not_read_holds_up_nobody_and_reads_anew_later() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut lagging = browser.events(None);
    lagging.until("ready");
    lagging.take_little();
    let mut reading = browser.events(None);
    reading.until("ready");
    // Presence events are not stored, so there can be very many of them in a short time.
    let cue = broker.ask(&agent, "Who listens?").cue;
    let (connections, waits) = (10, 1000);
    let changes = std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for _ in 0..connections {
                let mut line = broker.connect();
                for _ in 0..waits {
                    line.send(&attach(cue));
                    line.hear().unwrap();
                }
            }
        });
        let mut heard = 0;
        while heard < connections * waits {
            match reading.next().expect("a good reader was dropped").name.as_str() {
                "presence" => heard += 1,
                // On a busy machine even a fast reader may miss some; it gets a `resync` then.
                "resync" => break,
                _ => {}
            }
        }
        busy.join().unwrap();
        connections * waits
    });
    let mut told = 0;
    loop {
        match lagging.next().map(|event| event.name) {
            Some(name) if name == "resync" => break,
            Some(_) => told += 1,
            None => break,
        }
    }
    assert!(
        told < changes,
        "everything was queued for a reader that did not read"
    );
    browser.get("/state").ok(200);
}

#[test]
fn a_hundred_pages_hear_the_same() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut pages: Vec<_> = (0..100).map(|_| browser.events(None)).collect();
    for page in &mut pages {
        page.until("ready");
    }
    let waiting = broker.ask(&agent, "All?");
    for page in &mut pages {
        assert_eq!(
            page.until_change("asked").data["cue_id"],
            json!(waiting.cue.to_string())
        );
    }
}

#[test]
fn the_epoch_tells_whether_something_beside_the_log_was_missed() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let before = browser.get("/state").ok(200)["epoch"].clone();
    assert_eq!(browser.events(None).until("ready").data["epoch"], before);
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 1000 }))
        .ok(200);
    let after = browser.events(None).until("ready").data["epoch"].clone();
    assert_ne!(before, after);
    assert_eq!(
        eventually("the state agrees", || Some(
            browser.get("/state").ok(200)["epoch"].clone()
        )),
        after
    );
}

#[test]
fn the_epoch_tells_whether_somebody_stopped_listening_meanwhile() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Still there?");
    let shown = || {
        let state = browser.get("/state").ok(200);
        (
            state["epoch"].clone(),
            state["agents"][0]["state"].as_str().unwrap().to_owned(),
        )
    };
    let (before, _) = eventually("it is seen waiting", || {
        Some(shown()).filter(|(_, state)| state == "waiting")
    });
    drop(waiting);
    eventually("it is seen gone", || {
        Some(shown()).filter(|(_, state)| state == "detached")
    });
    eventually("another epoch", || {
        (browser.events(None).until("ready").data["epoch"] != before).then_some(())
    });
}
