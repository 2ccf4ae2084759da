//! Reading: the snapshot, the timeline, search, Markdown, settings, and the document that describes it all.

use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};

use crate::harness::TestBroker;
use cueme_test_kit::Http;

#[test]
fn the_snapshot_has_everything_to_begin_with() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("claude_code");
    let waiting = broker.ask_payload(&agent, "Ship it?\nMore.", &json!({ "type": "confirm" }));
    let state = browser.get("/state").ok(200);
    assert_eq!(state["newest_event"], 2);
    let shown = &state["agents"][0];
    assert_eq!(
        (&shown["agent_id"], &shown["runtime"], &shown["project"]),
        (&json!(agent.to_string()), &json!("claude_code"), &json!("shop"))
    );
    assert_eq!(
        (&shown["state"], &shown["unread"]),
        (&json!("waiting"), &json!(1))
    );
    let cue = &shown["open"][0];
    assert_eq!(
        (&cue["cue_id"], &cue["type"], &cue["beginning"]),
        (
            &json!(waiting.cue.to_string()),
            &json!("confirm"),
            &json!("Ship it?")
        )
    );
    assert!(state["device"]["current"] == true && state["settings"]["undo_ms"] == 5000);
    let seq = cue["seq"].clone();
    assert_eq!(
        browser
            .send("PUT", &format!("/agents/{agent}/read"), &json!({ "seq": seq }))
            .status,
        204
    );
    assert_eq!(browser.get(&format!("/agents/{agent}")).ok(200)["unread"], 0);
    let again = json!({ "seq": seq, "unread": true });
    let marked = browser.send("PUT", &format!("/agents/{agent}/read"), &again);
    assert_eq!(marked.status, 204);
    assert_eq!(browser.get(&format!("/agents/{agent}")).ok(200)["unread"], 1);
    assert_eq!(browser.get("/cues").ok(200)["cues"].as_array().unwrap().len(), 1);
}

#[test]
fn who_opens_the_page_has_the_state_with_it_and_whoever_keeps_it_does_not() {
    const PLACE: &str = "<script type=\"application/json\" id=\"state\">";
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("claude_code");
    let _waiting = broker.ask(&agent, "</script><script>alert(1)</script><!-- 数据");
    let host = Http::new(broker.port).host();
    let headers = [("host", host.as_str()), ("cookie", &browser.cookie)];
    let kept = Http::new(broker.port).send("GET", "/", &headers, b"");
    let accepting = [headers[0], headers[1], ("accept", "text/html,*/*;q=0.8")];
    let opened = Http::new(broker.port).send("GET", "/", &accepting, b"");
    assert_eq!((kept.status, opened.status), (200, 200));
    assert_eq!(kept.header("cache-control"), Some("no-cache"));
    assert_eq!(
        (kept.header("vary"), opened.header("vary")),
        (Some("accept"), Some("accept"))
    );
    assert_eq!(
        (opened.header("cache-control"), opened.header("etag")),
        (Some("no-store"), None)
    );

    let (kept, opened) = (kept.text(), opened.text());
    let (before, after) = kept.split_once(PLACE).unwrap();
    let state = opened
        .strip_prefix(before)
        .and_then(|rest| rest.strip_prefix(PLACE))
        .and_then(|rest| rest.strip_suffix(after))
        .expect("the same document around the state");
    assert!(after.starts_with("</script>") && !state.contains('<'), "{state}");
    let state: Value = serde_json::from_str(state).unwrap();
    assert_eq!(state["agents"], browser.get("/state").ok(200)["agents"]);
    assert_eq!(
        state["agents"][0]["open"][0]["beginning"],
        "</script><script>alert(1)</script><!-- 数据"
    );
}

#[test]
fn a_long_timeline_comes_in_pages_newest_first() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    for number in 0..25 {
        let mut waiting = broker.ask(&agent, &format!("Question {number}?"));
        browser
            .answer(waiting.cue, &json!({ "text": format!("answer {number}") }), 0)
            .ok(200);
        waiting.told();
        waiting.ack();
    }
    let mut before = i64::MAX;
    let mut seen = Vec::new();
    loop {
        let page = browser
            .get(&format!("/agents/{agent}/timeline?limit=10&before={before}"))
            .ok(200);
        for cue in page["cues"].as_array().unwrap() {
            seen.push(cue["text"]["html"].as_str().unwrap().to_owned());
            before = cue["seq"].as_i64().unwrap();
        }
        if page["more"] == false {
            break;
        }
    }
    let expected: Vec<String> = (0..25)
        .rev()
        .map(|number| format!("<p>answer {number}</p>\n"))
        .collect();
    assert_eq!(seen, expected);
    browser
        .get("/agents/none-none/timeline")
        .refused(404, "unknown_agent");
    browser
        .get(&format!("/agents/{agent}/timeline?before=x"))
        .refused(400, "bad_request");
}

#[test]
fn words_are_found_in_questions_answers_and_agents() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("windsurf");
    let waiting = broker.ask(&agent, "Which 数据库 should the tests use?");
    browser
        .answer(waiting.cue, &json!({ "text": "PostgreSQL, please" }), 0)
        .ok(200);
    for words in ["%E6%95%B0%E6%8D%AE", "postgres", "tests%20use"] {
        let found = browser.get(&format!("/search?q={words}")).ok(200);
        assert_eq!(
            found["cues"][0]["cue_id"],
            json!(waiting.cue.to_string()),
            "{words}: {found}"
        );
        assert!(!found["cues"][0]["snippet"].as_str().unwrap().is_empty());
    }
    let found = browser.get("/search?q=windsurf").ok(200);
    assert_eq!(found["agents"][0]["agent"]["agent_id"], json!(agent.to_string()));
    assert_eq!(browser.get("/search?q=nowhere").ok(200)["cues"], json!([]));
    browser.get("/search").refused(400, "bad_request");
}

#[test]
fn a_prompt_of_five_megabytes_is_shown_at_once_and_whole_on_demand() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let prompt = "A line of *words* and `code`.\n\n".repeat(5 * 1024 * 1024 / 31);
    let waiting = broker.ask(&agent, &prompt);
    let started = std::time::Instant::now();
    let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
    assert_eq!(shown["prompt"]["bytes"], prompt.len());
    let next = shown["prompt"]["next"].as_u64().unwrap();
    assert!(shown["prompt"]["html"].as_str().unwrap().len() < 256 * 1024);
    let part = browser
        .get(&format!("/cues/{}/prompt?from={next}", waiting.cue))
        .ok(200);
    assert!(
        part["next"].as_u64().unwrap() > next && part["html"].as_str().unwrap().contains("<em>words</em>")
    );
    assert_eq!(
        browser.get(&format!("/cues/{}/prompt.txt", waiting.cue)).text(),
        prompt
    );
}

#[test]
fn what_agents_write_arrives_harmless() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let attack =
        "<script>alert(1)</script>\n\n![x](https://t.test/p.png) [bank](https://evil.test) \u{202e}txt";
    let waiting = broker.ask(&agent, attack);
    let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    let html = shown["prompt"]["html"].as_str().unwrap();
    for bad in ["<script", "<img", "\u{202e}"] {
        assert!(!html.contains(bad), "{html}");
    }
    assert!(
        html.contains("goes-to\">https://evil.test") && html.contains("U+202E"),
        "{html}"
    );
    let hidden = broker.ask(&agent, "run \u{202e}txt");
    let shown = browser.get(&format!("/cues/{}", hidden.cue)).ok(200);
    assert_eq!(shown["beginning"], "run ⟨U+202E⟩txt");
    let preview = browser
        .post("/preview", &json!({ "markdown": "**b** <script>x</script>" }))
        .ok(200);
    assert!(
        preview["html"]
            .as_str()
            .unwrap()
            .starts_with("<p><strong>b</strong> &lt;script"),
        "{preview}"
    );
}

#[test]
fn settings_are_kept_and_checked() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let groups = json!([{ "name": "backend", "agents": ["bako-nefi"] }]);
    let patch = json!({ "language": "zh", "undo_ms": 0, "quick_replies": ["好"], "groups": groups, "page": { "theme": "dark" } });
    browser.send("PATCH", "/settings", &patch).ok(200);
    broker.kill_and_restart();
    let settings = browser.get("/settings").ok(200);
    for (key, value) in patch.as_object().unwrap() {
        assert_eq!(&settings[key], value, "{key}");
    }
    assert_eq!(settings["enter_sends"], true);
    for wrong in [
        json!({ "undo_ms": 600_001 }),
        json!({ "undo_ms": -1 }),
        json!({ "language": "fr" }),
        json!({ "quick_replies": [""] }),
        json!({ "quiet_hours": { "enabled": true, "from": "25:00", "to": "07:00" } }),
        json!({ "groups": [{ "name": "", "agents": [] }] }),
        json!({ "groups": [{ "name": "x", "agents": ["Not An Id"] }] }),
        json!({ "unknown": 1 }),
        json!([]),
    ] {
        browser
            .send("PATCH", "/settings", &wrong)
            .refused(400, "bad_request");
    }
    assert_eq!(browser.get("/settings").ok(200), settings);
}

#[test]
fn the_document_describes_what_there_is() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let document = browser.get("/api/v1/openapi.json").ok(200);
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 30, "{}", paths.len());
    let host = Http::new(broker.port).host();
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    for reference in &references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (path, operations) in paths {
        let concrete = path
            .replace("{agent_id}", "bako-nefi")
            .replace("{cue_id}", "000000000000")
            .replace(['{', '}'], "");
        for method in operations.as_object().unwrap().keys() {
            let answer =
                Http::new(broker.port).send(&method.to_uppercase(), &concrete, &[("host", &host)], b"");
            assert_eq!(answer.status, 401, "{method} {path}");
            // A stream has no end to wait for.
            if path.ends_with("/events") {
                continue;
            }
            let inside = match method.as_str() {
                "get" => browser.get(&concrete),
                method => browser.send(&method.to_uppercase(), &concrete, &json!({ "wrong": 1 })),
            };
            let is_known = inside.status != 405 && inside.status < 500;
            assert!(
                is_known && (inside.status == 403) == path.contains("/hap/"),
                "{method} {path}: {}",
                inside.status
            );
        }
    }
    browser.get("/api/v1/nothing").refused(404, "not_found");
    browser.delete("/state").refused(405, "method_not_allowed");
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members
                .values()
                .for_each(|value| collect_references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

#[test]
fn the_same_question_of_several_agents_is_known_by_its_content() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let [first, second, third] = ["cursor", "codex", "claude_code"].map(|runtime| broker.join(runtime));
    let options = json!({ "type": "choice", "options": ["A", "B"] });
    let others = json!({ "type": "choice", "options": ["A", "C"] });
    let same = [
        broker.ask_payload(&first, "Which?", &options),
        broker.ask_payload(&second, "Which?", &options),
    ];
    let content = |cue| {
        let cues = browser.get("/cues").ok(200)["cues"].clone();
        let found = cues
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["cue_id"] == json!(cue));
        found.unwrap()["content"].clone()
    };
    assert!(content(same[0].cue).is_string());
    assert_eq!(content(same[0].cue), content(same[1].cue));
    let other = broker.ask_payload(&third, "Which?", &others);
    assert_ne!(content(same[0].cue), content(other.cue));
    // Approvals are answered one by one, and a pause has no content to compare.
    let approval = broker.ask_with(&third, Kind::Cue, "Which?", Some(&options), Origin::Approval);
    let pause = broker.ask_with(&first, Kind::Pause, "Which?", None, Origin::Agent);
    assert_eq!(
        (content(approval.cue), content(pause.cue)),
        (json!(null), json!(null))
    );
    // Once it is answered there is nothing to answer with others.
    browser.answer(same[0].cue, &json!({ "text": "A" }), 0).ok(200);
    let answered = browser.get(&format!("/agents/{first}/timeline")).ok(200)["cues"].clone();
    assert!(
        answered
            .as_array()
            .unwrap()
            .iter()
            .all(|cue| cue.get("content").is_none())
    );
}
