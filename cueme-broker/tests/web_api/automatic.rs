//! The broker's automatic actions: rules that answer, and notifications of unanswered questions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use protocol_spec::id::CueId;
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};

use cueme_test_kit::{PATIENCE, eventually, remains};

use crate::harness::{Browser, TestBroker};

const RULES: &str = r#"
[[policy]]
name = "never deploy"
text = "(?i)deploy"
hold = true

[[policy]]
name = "go on"
runtime = "cursor"
payload = "none"
answer = "Continue."

[[policy]]
name = "pick"
payload = "choice"
choose = "A"
"#;

/// Makes sure that no rule answered a question: rules try questions in order, and one has answered a later one.
#[track_caller]
fn is_left_open(broker: &TestBroker, browser: &Browser, cue: CueId) {
    let outcome = |cue| browser.get(&format!("/cues/{cue}")).ok(200)["outcome"].clone();
    let choice = json!({ "type": "choice", "options": ["A", "B"] });
    let later = broker.ask_payload(&broker.join("codex"), "A later question?", &choice);
    eventually("a rule answers the later question", || {
        (outcome(later.cue) == "answered").then_some(())
    });
    assert_eq!(outcome(cue), "open");
}

#[test]
fn rules_answer_in_order_label_themselves_and_stop_after_three() {
    let broker = TestBroker::with_config(RULES);
    let browser = broker.sign_in();
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 0 }))
        .ok(200);
    let agent = broker.join("cursor");
    for number in 0..3 {
        let mut waiting = broker.ask(&agent, &format!("Step {number} done. Next?"));
        let told = waiting.told();
        assert_eq!(
            (told.text.as_str(), told.by.as_deref()),
            ("Continue.", Some("policy: go on"))
        );
        waiting.ack();
        let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
        assert_eq!(shown["policy"], "go on");
    }
    let mut fourth = broker.ask(&agent, "Step 4 done. Next?");
    is_left_open(&broker, &browser, fourth.cue);
    browser
        .answer(fourth.cue, &json!({ "text": "a human" }), 0)
        .ok(200);
    fourth.told();
    fourth.ack();
    // A human was there, so it may go on.
    assert_eq!(broker.ask(&agent, "Step 5?").told().text, "Continue.");
    let policies = browser.get("/policies").ok(200)["policies"].clone();
    let names: Vec<&str> = policies
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["never deploy", "go on", "pick"]);
    assert_eq!(
        (&policies[1]["answered"], &policies[0]["action"]),
        (&json!(4), &json!("hold"))
    );
}

#[test]
fn a_rule_is_turned_off_with_one_click_and_stays_off() {
    let mut broker = TestBroker::with_config(RULES);
    let browser = broker.sign_in();
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 0 }))
        .ok(200);
    let agent = broker.join("cursor");
    assert_eq!(
        browser
            .send("PATCH", "/policies/go%20on", &json!({ "enabled": false }))
            .ok(200)["enabled"],
        false
    );
    browser
        .send("PATCH", "/policies/none", &json!({ "enabled": false }))
        .refused(404, "not_found");
    broker.kill_and_restart();
    let open = broker.ask(&agent, "Next?");
    let choice = json!({ "type": "choice", "options": ["A", "B"] });
    assert_eq!(broker.ask_payload(&agent, "Which?", &choice).told().text, "A");
    assert_eq!(
        browser.get(&format!("/cues/{}", open.cue)).ok(200)["outcome"],
        "open"
    );
    browser
        .send("PATCH", "/settings", &json!({ "policies": false }))
        .ok(200);
    let other = broker.join("codex");
    let left = broker.ask_payload(&other, "Which again?", &choice);
    // With all rules off, there is no later question that one answers.
    remains("the question is open", Duration::from_millis(300), || {
        browser.get(&format!("/cues/{}", left.cue)).ok(200)["outcome"] == "open"
    });
}

#[test]
fn hooks_approvals_and_held_questions_are_left_to_humans() {
    let broker = TestBroker::with_config(RULES);
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let left = [
        broker.ask(&agent, "Deploy to production?"),
        broker.ask_with(&agent, Kind::Cue, "The turn ended.", None, Origin::Hook),
        broker.ask_with(&agent, Kind::Cue, "Run rm -rf?", None, Origin::Approval),
        broker.ask_with(&agent, Kind::Pause, "Paused.", None, Origin::Agent),
    ];
    for waiting in &left {
        is_left_open(&broker, &browser, waiting.cue);
    }
}

#[test]
fn an_automatic_answer_can_be_taken_back_and_is_not_given_again() {
    let mut broker = TestBroker::with_config(RULES);
    let browser = broker.sign_in();
    browser
        .send("PATCH", "/settings", &json!({ "undo_ms": 60_000 }))
        .ok(200);
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Next?");
    let path = format!("/cues/{}", waiting.cue);
    eventually("the rule answers", || {
        (browser.get(&path).ok(200)["outcome"] == "answered").then_some(())
    });
    browser.post(&format!("{path}/undo"), &json!({})).ok(200);
    broker.kill_and_restart();
    is_left_open(&broker, &browser, waiting.cue);
}

#[test]
fn a_wrong_rule_keeps_the_broker_running_and_is_shown() {
    let broker = TestBroker::with_config("[[policy]]\nname = \"x\"\n");
    let state = broker.sign_in().get("/state").ok(200);
    assert!(
        state["config_error"].as_str().unwrap().contains("does nothing"),
        "{state}"
    );
}

/// A request that somebody else's server was sent.
#[derive(Debug)]
struct Received {
    line: String,
    authorization: Option<String>,
    body: Value,
}

/// Pretends to be every service there is.
fn fake_services() -> (u16, Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let (mut length, mut authorization) = (0, None);
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).unwrap();
                let Some((name, value)) = header.trim().split_once(':') else {
                    break;
                };
                match name.to_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().unwrap(),
                    "authorization" => authorization = Some(value.trim().to_owned()),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let reply = if line.contains("sendMessage") {
                "{\"ok\":true,\"result\":{\"message_id\":77}}"
            } else {
                "{\"id\":\"abc\"}"
            };
            let mut stream = stream;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
                reply.len()
            );
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            if sender
                .send(Received {
                    line,
                    authorization,
                    body,
                })
                .is_err()
            {
                return;
            }
        }
    });
    (port, received)
}

#[test]
fn every_channel_is_told_when_nobody_answers_and_taken_back_when_somebody_does() {
    let (port, received) = fake_services();
    let config = format!(
        "[[notify]]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/hook\"\ntoken = \"env:HOOK_TOKEN\"\nafter = \"100ms\"\n\
         [[notify]]\nkind = \"ntfy\"\nurl = \"http://127.0.0.1:{port}/topic\"\nafter = \"100ms\"\n\
         [[notify]]\nkind = \"slack\"\nurl = \"env:SLACK_URL\"\nafter = \"100ms\"\npreview = false\n\
         [[notify]]\nkind = \"telegram\"\nurl = \"http://127.0.0.1:{port}\"\ntoken = \"env:BOT\"\nchat = \"42\"\nafter = \"100ms\"\n"
    );
    let slack = format!("http://127.0.0.1:{port}/slack");
    let broker = TestBroker::with_variables(
        &config,
        &[("HOOK_TOKEN", "h00k"), ("SLACK_URL", &slack), ("BOT", "b0t")],
    );
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Which colour?");
    let mut sent: Vec<Received> = (0..4).map(|_| received.recv_timeout(PATIENCE).unwrap()).collect();
    sent.sort_by(|a, b| a.line.cmp(&b.line));
    let lines: Vec<&str> = sent
        .iter()
        .map(|received| received.line.trim_end_matches(" HTTP/1.1\r\n"))
        .collect();
    assert_eq!(
        lines,
        ["POST /", "POST /botb0t/sendMessage", "POST /hook", "POST /slack"]
    );
    assert_eq!(
        (&sent[0].body["topic"], &sent[0].body["message"]),
        (&json!("topic"), &json!("Which colour?"))
    );
    assert_eq!(sent[1].body["chat_id"], "42");
    assert_eq!(
        (&sent[2].body["event"], sent[2].authorization.as_deref()),
        (&json!("waiting"), Some("Bearer h00k"))
    );
    let slack = sent[3].body["text"].as_str().unwrap();
    assert!(
        slack.contains("waits for you") && !slack.contains("colour") && slack.contains("http://127.0.0.1"),
        "{slack}"
    );
    eventually("what was sent is noted", || {
        let database = broker.database();
        let count: u32 = database
            .query_row("SELECT count(*) FROM notified", [], |row| row.get(0))
            .unwrap();
        (count == 4).then_some(())
    });
    browser.answer(waiting.cue, &json!({ "text": "blue" }), 0).ok(200);
    let mut back: Vec<String> = (0..3)
        .map(|_| received.recv_timeout(PATIENCE).unwrap().line)
        .collect();
    back.sort();
    let expected = ["DELETE /topic/abc", "POST /botb0t/deleteMessage", "POST /hook"];
    assert!(
        back.iter()
            .zip(expected)
            .all(|(line, start)| line.starts_with(start)),
        "{back:?}"
    );
}

#[test]
fn nobody_is_told_when_somebody_answers_in_time() {
    let (port, received) = fake_services();
    let config = format!(
        "[[notify]]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/hook\"\nafter = \"600ms\"\n"
    );
    let broker = TestBroker::with_config(&config);
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Quick one?");
    browser.answer(waiting.cue, &json!({ "text": "yes" }), 0).ok(200);
    let _unanswered = broker.ask(&agent, "Slow one?");
    // The time of the first question is over before that of the second.
    let first = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first.body["cue"]["question"], "Slow one?");
}

#[test]
fn an_agents_words_reach_slack_literally_and_ping_nobody() {
    let (port, received) = fake_services();
    let config = format!(
        "[[notify]]\nkind = \"slack\"\nurl = \"http://127.0.0.1:{port}/slack\"\nafter = \"50ms\"\n\
         [[notify]]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/hook\"\nafter = \"50ms\"\n"
    );
    let broker = TestBroker::with_config(&config);
    let agent = broker.join("cursor");
    let _waiting = broker.ask(
        &agent,
        "<!channel> <https://evil.test|https://bank.test> & \u{202e}txt",
    );
    let mut sent: Vec<Received> = (0..2).map(|_| received.recv_timeout(PATIENCE).unwrap()).collect();
    sent.sort_by(|a, b| a.line.cmp(&b.line));
    let (hook, slack) = (&sent[0].body, &sent[1].body);
    let text = slack["text"].as_str().unwrap();
    assert!(
        text.contains("&lt;!channel&gt; &lt;https://evil.test|https://bank.test&gt; &amp; ⟨U+202E⟩txt"),
        "{text}"
    );
    // The only control is our own link.
    assert_eq!(text.matches('<').count(), 1, "{text}");
    assert!(text.contains("\n<http://127.0.0.1"), "{text}");
    assert_eq!(
        (&slack["mrkdwn"], &slack["parse"]),
        (&json!(false), &json!("none"))
    );
    assert_eq!(
        (&hook["cue"]["spelled_out"], hook["cue"]["question"].as_str()),
        (
            &json!(true),
            Some("<!channel> <https://evil.test|https://bank.test> & ⟨U+202E⟩txt")
        )
    );
}

#[test]
fn servers_that_read_slacks_messages_as_markdown_mask_no_link_and_call_nobody() {
    let (port, received) = fake_services();
    let config =
        format!("[[notify]]\nkind = \"slack\"\nurl = \"http://127.0.0.1:{port}/slack\"\nafter = \"50ms\"\n");
    let broker = TestBroker::with_config(&config);
    let agent = broker.join("cursor");
    let _waiting = broker.ask(
        &agent,
        "@all see [https://bank.test](https://evil.test) ![x](http://t.test)",
    );
    let sent = received.recv_timeout(PATIENCE).unwrap();
    let text = sent.body["text"].as_str().unwrap();
    assert!(
        !text.contains("](") && !text.contains("@all") && text.contains("https://evil.test"),
        "{text}"
    );
    // Slack shows nothing of what keeps them apart.
    let shown = text.replace('\u{2060}', "");
    assert!(
        shown.contains("@all see [https://bank.test](https://evil.test) ![x](http://t.test)"),
        "{shown}"
    );
}
