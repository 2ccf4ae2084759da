//! Admission: admitted and refused requests. A refused request changes nothing.

use protocol_spec::message::TokenScope;
use serde_json::json;

use crate::harness::TestBroker;
use cueme_test_kit::{Http, eventually, files_below};

/// Routes of every kind, also ones that do not exist.
const ROUTES: &[(&str, &str)] = &[
    ("GET", "/"),
    ("GET", "/nothing"),
    ("GET", "/api/v1/state"),
    ("GET", "/api/v1/events"),
    ("GET", "/api/v1/nothing"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/api/v1/uploads/x"),
    ("POST", "/api/v1/cues/000000000000/answer"),
    ("POST", "/api/v1/messages"),
    ("POST", "/api/v1/uploads"),
    ("POST", "/api/v1/hap/join"),
    ("PATCH", "/api/v1/settings"),
    ("DELETE", "/api/v1/devices/x"),
    ("PUT", "/api/v1/agents/bako-nefi/read"),
    ("OPTIONS", "/api/v1/state"),
];

#[test]
fn a_wrong_host_is_refused_on_every_route_whoever_asks() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let before = broker.everything();
    let port = broker.port;
    let hosts = [
        "evil.test".to_owned(),
        format!("evil.test:{port}"),
        format!("127.0.0.1.evil.test:{port}"),
        format!("localhost.:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port - 1),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("user@127.0.0.1:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("127.0.0.1:{port}, evil.test"),
        String::new(),
    ];
    for (method, path) in ROUTES {
        for host in &hosts {
            for cookie in ["", browser.cookie.as_str()] {
                let headers = [("host", host.as_str()), ("cookie", cookie)];
                let answer = Http::new(port).send(method, path, &headers, b"");
                assert!(
                    [400, 403].contains(&answer.status),
                    "{method} {path} {host:?}: {}",
                    answer.status
                );
                assert!(!answer.has_cors());
            }
        }
        let own = Http::new(port).host();
        let missing = Http::new(port).send(method, path, &[("cookie", &browser.cookie)], b"");
        let twice = Http::new(port).send(
            method,
            path,
            &[("host", &own), ("host", &own), ("cookie", &browser.cookie)],
            b"",
        );
        let absolute = Http::new(port).send(
            method,
            &format!("http://evil.test{path}"),
            &[("host", &own), ("cookie", &browser.cookie)],
            b"",
        );
        for answer in [missing, twice, absolute] {
            assert!(
                [400, 403].contains(&answer.status),
                "{method} {path}: {}",
                answer.status
            );
        }
    }
    assert_eq!(broker.everything(), before);
}

#[test]
fn a_wrong_origin_is_refused_on_every_route_whoever_asks() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let before = broker.everything();
    let host = Http::new(broker.port).host();
    let origins = [
        "http://evil.test".to_owned(),
        "null".to_owned(),
        format!("http://127.0.0.1:{}", broker.port - 1),
        format!("http://{host}.evil.test"),
        format!("ftp://{host}"),
        String::new(),
    ];
    for (method, path) in ROUTES {
        for origin in &origins {
            for cookie in ["", browser.cookie.as_str()] {
                let headers = [("host", host.as_str()), ("origin", origin), ("cookie", cookie)];
                let answer = Http::new(broker.port).send(method, path, &headers, b"{}");
                assert_eq!(answer.status, 403, "{method} {path} {origin:?}");
                assert!(!answer.has_cors());
            }
        }
        let cross = [
            ("host", host.as_str()),
            ("sec-fetch-site", "cross-site"),
            ("cookie", &browser.cookie),
        ];
        assert_eq!(
            Http::new(broker.port).send(method, path, &cross, b"").status,
            403,
            "{method} {path}"
        );
    }
    assert_eq!(broker.everything(), before);
}

#[test]
fn nobody_is_let_in_without_a_key_before_anything_is_routed() {
    let broker = TestBroker::start();
    let before = broker.everything();
    let host = Http::new(broker.port).host();
    for (method, path) in ROUTES {
        let answer = Http::new(broker.port).send(method, path, &[("host", &host)], b"{}");
        answer.refused(401, "unauthenticated");
    }
    let page = Http::new(broker.port).send("GET", "/", &[("host", &host), ("accept", "text/html")], b"");
    assert_eq!(page.status, 401);
    assert!(
        page.text().contains("cueme ui") && !page.text().contains("<script"),
        "{}",
        page.text()
    );
    assert_eq!(broker.everything(), before);
}

#[test]
fn a_link_works_once_in_path_or_query() {
    let broker = TestBroker::start();
    for place in ["/login/", "/?token="] {
        let token = broker.link_token();
        let first = Http::new(broker.port).get(&format!("{place}{token}"), None);
        assert_eq!((first.status, first.header("location")), (303, Some("/")));
        let cookie = first.header("set-cookie").unwrap().to_owned();
        for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        let second = Http::new(broker.port).get(&format!("{place}{token}"), None);
        second.refused(401, "unauthenticated");
        assert!(second.header("set-cookie").is_none());
        // The browser that used it may open it again.
        let host = Http::new(broker.port).host();
        let own = cookie.split(';').next().unwrap();
        let again = Http::new(broker.port).send(
            "GET",
            &format!("{place}{token}"),
            &[("host", &host), ("cookie", own)],
            b"",
        );
        assert_eq!(again.status, 303);
    }
}

#[test]
fn looking_ahead_or_at_the_head_does_not_use_a_link_up() {
    let broker = TestBroker::start();
    let (token, host) = (broker.link_token(), Http::new(broker.port).host());
    let path = format!("/login/{token}");
    let prefetch = [("host", host.as_str()), ("sec-purpose", "prefetch")];
    assert_eq!(
        Http::new(broker.port).send("GET", &path, &prefetch, b"").status,
        403
    );
    assert_eq!(
        Http::new(broker.port)
            .send("HEAD", &path, &[("host", &host)], b"")
            .status,
        405
    );
    assert_eq!(
        Http::new(broker.port)
            .send("POST", &path, &[("host", &host)], b"")
            .status,
        405
    );
    assert_eq!(Http::new(broker.port).get(&path, None).status, 303);
}

#[test]
fn an_expired_or_foreign_token_is_refused() {
    let (broker, other) = (TestBroker::start(), TestBroker::start());
    let expired = broker.link_token();
    broker.sql("UPDATE links SET expires_at = 1");
    Http::new(broker.port)
        .get(&format!("/login/{expired}"), None)
        .refused(401, "unauthenticated");
    let foreign_link = other.link_token();
    Http::new(broker.port)
        .get(&format!("/login/{foreign_link}"), None)
        .refused(401, "unauthenticated");
    let mut foreign = other.sign_in();
    foreign.port = broker.port;
    assert_eq!(foreign.get("/state").status, 401);
    let host = Http::new(broker.port).host();
    let token = other.token(TokenScope::Human, None);
    let bearer = format!("Bearer {token}");
    let answer = Http::new(broker.port).send(
        "GET",
        "/api/v1/state",
        &[("host", &host), ("authorization", &bearer)],
        b"",
    );
    answer.refused(401, "unauthenticated");
}

#[test]
fn a_link_works_for_ten_minutes() {
    const LIFE_MS: i64 = 10 * 60 * 1000;
    let broker = TestBroker::start();
    // As if all but the last minute had passed, and then all of it.
    for (passed_ms, status) in [(LIFE_MS - 60_000, 303), (LIFE_MS, 401)] {
        let token = broker.link_token();
        broker.sql(&format!("UPDATE links SET expires_at = expires_at - {passed_ms}"));
        let answer = Http::new(broker.port).get(&format!("/login/{token}"), None);
        assert_eq!(answer.status, status, "after {passed_ms} ms");
    }
}

#[test]
fn no_file_holds_what_opens_something() {
    let broker = TestBroker::start();
    let agent = broker.join("cursor");
    let browser = broker.sign_in();
    let (_, cookie) = browser.cookie.split_once('=').unwrap();
    let secrets = [
        cookie.to_owned(),
        broker.link_token(),
        broker.token(TokenScope::Human, None),
        broker.token(TokenScope::Agent, Some(&agent)),
    ];
    let files = files_below(broker.home());
    let holds = |text: &str| {
        let found = files
            .iter()
            .find(|(_, bytes)| bytes.windows(text.len()).any(|window| window == text.as_bytes()));
        found.map(|(path, _)| path.clone())
    };
    assert!(holds("a program").is_some(), "the tokens' name is found");
    for secret in secrets {
        assert!(secret.len() > 30, "{secret}");
        assert_eq!(holds(&secret), None, "{secret}");
    }
}

#[test]
fn the_page_is_on_this_machine_alone_unless_told_otherwise() {
    let broker = TestBroker::start();
    assert_eq!(listening(&broker), [format!("0100007F:{:04X}", broker.port)]);
    let open = TestBroker::with_config("listen = \"0.0.0.0:0\"\n");
    assert_eq!(listening(&open), [format!("00000000:{:04X}", open.port)]);
}

/// Returns where a broker's process listens, as the system writes it.
fn listening(broker: &TestBroker) -> Vec<String> {
    const LISTEN: &str = "0A";
    let own: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", broker.pid()))
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row[3] == LISTEN && own.contains(&format!("socket:[{}]", row[9])))
        .map(|row| row[1].to_owned())
        .collect()
}

#[test]
fn whoever_guesses_is_slowed_down_and_nobody_else_is() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let mut statuses = Vec::new();
    for guess in 0..40 {
        statuses.push(Http::new(broker.port).get(&format!("/login/guess{guess}"), None));
    }
    assert_eq!(statuses[0].status, 401);
    let last = statuses.last().unwrap();
    last.refused(429, "too_many_failures");
    assert!(last.header("retry-after").is_some());
    browser.get("/state").ok(200);
    assert_eq!(
        Http::new(broker.port)
            .get(&format!("/login/{}", broker.link_token()), None)
            .status,
        303
    );
}

#[test]
fn a_form_of_another_site_cannot_answer() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Deploy?");
    let before = broker.everything();
    let path = format!("/api/v1/cues/{}/answer", waiting.cue);
    let body = json!({ "id": uuid::Uuid::now_v7(), "answer": { "text": "yes" } }).to_string();
    let host = Http::new(broker.port).host();
    let origin = format!("http://{host}");
    let attempts: [&[(&str, &str)]; 5] = [
        &[
            ("origin", "http://evil.test"),
            ("content-type", "application/x-www-form-urlencoded"),
        ],
        &[("origin", "null"), ("content-type", "text/plain")],
        // A browser that leaves the origin out says nothing about where it comes from.
        &[("content-type", "application/json")],
        &[
            ("content-type", "application/json"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
        ],
        &[
            ("content-type", "application/json"),
            ("sec-fetch-site", "same-site"),
            ("origin", &origin),
        ],
    ];
    for attempt in attempts {
        let mut headers = vec![("host", host.as_str()), ("cookie", browser.cookie.as_str())];
        headers.extend_from_slice(attempt);
        assert_eq!(
            Http::new(broker.port)
                .send("POST", &path, &headers, body.as_bytes())
                .status,
            403,
            "{attempt:?}"
        );
    }
    let form = [
        ("host", host.as_str()),
        ("cookie", browser.cookie.as_str()),
        ("origin", &origin),
        ("content-type", "text/plain"),
    ];
    Http::new(broker.port)
        .send("POST", &path, &form, body.as_bytes())
        .refused(415, "unsupported");
    assert_eq!(broker.everything(), before);
    drop(waiting);
}

#[test]
fn port_and_sign_ins_survive_a_restart() {
    let mut broker = TestBroker::start();
    let browser = broker.sign_in();
    let token = broker.token(TokenScope::Human, None);
    let port = broker.port;
    broker.kill_and_restart();
    assert_eq!(broker.port, port);
    browser.get("/state").ok(200);
    let host = Http::new(port).host();
    let bearer = format!("Bearer {token}");
    let answer = Http::new(port).send(
        "GET",
        "/api/v1/state",
        &[("host", &host), ("authorization", &bearer)],
        b"",
    );
    assert_eq!(answer.status, 200);
}

#[test]
fn devices_are_named_listed_and_locked_out() {
    let broker = TestBroker::start();
    let (laptop, phone) = (broker.sign_in(), broker.sign_in());
    let devices = laptop.get("/devices").ok(200)["devices"].clone();
    assert_eq!(devices.as_array().unwrap().len(), 2);
    let own: Vec<_> = devices
        .as_array()
        .unwrap()
        .iter()
        .filter(|device| device["current"] == true)
        .collect();
    assert_eq!(own.len(), 1);
    let other = devices
        .as_array()
        .unwrap()
        .iter()
        .find(|device| device["current"] == false)
        .unwrap();
    let path = format!("/devices/{}", other["device_id"].as_str().unwrap());
    assert_eq!(
        laptop.send("PATCH", &path, &json!({ "name": "phone" })).ok(200)["name"],
        "phone"
    );
    laptop
        .send("PATCH", &path, &json!({ "name": "policy: x" }))
        .refused(400, "bad_request");
    laptop
        .send("PATCH", "/devices/none", &json!({ "name": "x" }))
        .refused(404, "not_found");
    let mut events = phone.events(None);
    events.until("ready");
    assert_eq!(laptop.delete(&path).status, 204);
    phone.get("/state").refused(401, "unauthenticated");
    while events.next().is_some() {}
    laptop.get("/state").ok(200);
}

#[test]
fn every_answer_tells_browsers_to_be_careful_and_shares_nothing() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    for answer in [
        browser.get("/"),
        browser.get("/state"),
        browser.get("/api/v1/nothing"),
        Http::new(broker.port).get("/", None),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(!answer.has_cors());
    }
    let page = browser.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let etag = page.header("etag").unwrap().to_owned();
    let host = Http::new(broker.port).host();
    let again = Http::new(broker.port).send(
        "GET",
        "/",
        &[
            ("host", &host),
            ("cookie", &browser.cookie),
            ("if-none-match", &etag),
        ],
        b"",
    );
    assert_eq!((again.status, again.body().len()), (304, 0));
}

#[test]
fn an_agent_token_opens_nothing_of_the_page() {
    let broker = TestBroker::start();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Deploy?");
    let before = broker.everything();
    let host = Http::new(broker.port).host();
    for token in [
        broker.token(TokenScope::Agent, Some(&agent)),
        broker.token(TokenScope::Join, None),
    ] {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("host", host.as_str()),
            ("authorization", &bearer),
            ("content-type", "application/json"),
        ];
        let answer = json!({ "id": uuid::Uuid::now_v7(), "answer": { "text": "yes" } }).to_string();
        let path = format!("/api/v1/cues/{}/answer", waiting.cue);
        Http::new(broker.port)
            .send("POST", &path, &headers, answer.as_bytes())
            .refused(403, "forbidden");
        for (method, path) in ROUTES.iter().filter(|(_, path)| !path.contains("/hap/")) {
            let answer = Http::new(broker.port).send(method, path, &headers, b"{}");
            assert_eq!(answer.status, 403, "{method} {path}");
        }
    }
    broker.sql("DELETE FROM tokens");
    let untouched = |everything: &str| {
        everything
            .lines()
            .filter(|line| !line.starts_with("tokens"))
            .count()
    };
    assert_eq!(untouched(&broker.everything()), untouched(&before));
}

#[test]
fn links_for_phones_come_as_pictures_and_say_why_they_cannot_work() {
    let broker = TestBroker::start();
    let link = broker
        .sign_in()
        .post("/links", &json!({ "name": "phone" }))
        .ok(200);
    assert!(link["svg"].as_str().unwrap().contains("<svg"), "{link}");
    assert!(link["hint"].as_str().unwrap().contains("listen"), "{link}");
    let path = link["url"]
        .as_str()
        .unwrap()
        .split_once(&broker.port.to_string())
        .unwrap()
        .1
        .to_owned();
    assert_eq!(Http::new(broker.port).get(&path, None).status, 303);
    let names = broker.sign_in().get("/devices").ok(200).to_string();
    assert!(names.contains("\"phone\""), "{names}");
}

#[test]
fn served_elsewhere_the_page_says_how_to_get_https() {
    let config = "listen = \"0.0.0.0:0\"\n[web]\nhosts = [\"cue.example.org\"]\n";
    let broker = TestBroker::with_config(config);
    let browser = broker.sign_in();
    let state = browser.get("/state").ok(200);
    assert!(
        state["secure_hint"].as_str().unwrap().contains("HTTPS"),
        "{state}"
    );
    let named = Http::new(broker.port).send(
        "GET",
        "/api/v1/state",
        &[("host", "cue.example.org"), ("cookie", &browser.cookie)],
        b"",
    );
    assert_eq!(named.status, 200);
    eventually("the log says so", || {
        let log = std::fs::read_to_string(broker.places().log()).ok()?;
        log.contains("put TLS in front").then_some(())
    });
}
