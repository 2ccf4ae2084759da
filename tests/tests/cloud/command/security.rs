//! Actions that are refused to everyone, and secrets that are never written.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use cueme_tests::cloud_fake::{API_KEY, Script};
use cueme_tests::{Client, eventually};
use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::json;
use uuid::Uuid;

use super::cloud::{Callback, Cloud, WEBHOOK_SECRET};

const BAD: StatusCode = StatusCode::UNAUTHORIZED;

/// A run that goes on until it is interrupted.
fn endless(cloud: &Cloud) -> (Client, Callback) {
    let client = cloud.begin(&["launch", "fix it"]);
    let callback = cloud.callback(1);
    eventually("a run that is reported", || {
        cloud
            .runs()
            .first()
            .filter(|run| run["agent_id"].is_string())
            .map(|_| ())
    });
    (client, callback)
}

fn stop(client: Client) {
    client.signal(Signal::INT);
    client.finish().printed(130);
}

#[test]
fn bootstrap_exchange_happy_path_and_expired_or_invalid_token() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, callback) = endless(&cloud);
    let (status, reply) = cloud.exchange(&callback);
    assert_eq!(status, StatusCode::OK, "{reply}");
    assert_eq!(
        (&reply["tokenType"], &reply["runId"]),
        (&"Bearer".into(), &callback.run_id.clone().into())
    );
    assert_eq!(cloud.exchange(&callback).0, BAD, "a token is exchanged once");
    let invented = Callback {
        token: "cmb_invented".into(),
        ..callback.clone()
    };
    assert_eq!(cloud.exchange(&invented).0, BAD);
    stop(client);
}

#[test]
fn an_expired_token_is_refused() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, callback) = endless(&cloud);
    cloud.change("UPDATE bootstraps SET expires_at = 1");
    let (status, reply) = cloud.exchange(&callback);
    assert_eq!(status, BAD);
    assert!(reply.to_string().contains("expired"), "{reply}");
    stop(client);
}

#[test]
fn a_token_is_bound_to_its_run_and_worth_nothing_after_a_wrong_try() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, callback) = endless(&cloud);
    let elsewhere = Callback {
        run_id: Uuid::now_v7().to_string(),
        ..callback.clone()
    };
    assert_eq!(cloud.exchange(&elsewhere).0, BAD);
    assert_eq!(cloud.exchange(&callback).0, BAD);
    stop(client);
}

#[test]
fn an_agents_token_reads_no_other_agent_and_answers_nothing() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, callback) = endless(&cloud);
    let (_, reply) = cloud.exchange(&callback);
    let (token, run) = (reply["token"].as_str().unwrap(), callback.run_id.as_str());
    let other = cloud.home.join();
    let (_waiting, cue) = cloud.home.ask(&other, "Somebody else's question?", None);
    let ask = json!({"id": Uuid::now_v7(), "agent_id": other, "prompt": "as somebody else", "wait_ms": 1});
    let (status, _) = cloud.send_as(token, run, Method::POST, "/api/v1/hap/cue", Some(&ask));
    assert_eq!(status, StatusCode::NOT_FOUND, "it asks for nobody else");
    let path = format!("/api/v1/hap/cues/{cue}?wait_ms=1");
    let (status, reply) = cloud.send_as(token, run, Method::GET, &path, None);
    assert_eq!(status, StatusCode::NOT_FOUND, "{reply}");
    let join = json!({"runtime": "cursor_cloud"});
    let (status, _) = cloud.send_as(token, run, Method::POST, "/api/v1/hap/join", Some(&join));
    assert_eq!(status, StatusCode::FORBIDDEN, "it becomes nobody else");
    let recall = json!({"hints": "question"});
    let (_, found) = cloud.send_as(token, run, Method::POST, "/api/v1/hap/recall", Some(&recall));
    assert!(!found.to_string().contains(&other), "{found}");
    let answer = json!({"id": Uuid::now_v7(), "answer": {"text": "yes"}});
    let page = cloud.home.status().web.unwrap();
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("x-cueme-run-id", run)];
    for base in [cloud.public.as_str(), page.as_str()] {
        let path = format!("/api/v1/cues/{cue}/answer");
        let (status, _) = cloud.send_to(base, Method::POST, &path, &headers, Some(&answer));
        assert!(matches!(status.as_u16(), 401 | 403 | 404), "{base}: {status}");
        for path in [
            "/api/v1/agents",
            "/api/v1/state",
            "/api/v1/events",
            "/api/v1/runs",
            "/",
        ] {
            let (status, _) = cloud.send_to(base, Method::GET, path, &headers, None);
            assert!(
                matches!(status.as_u16(), 401 | 403 | 404),
                "{base}{path}: {status}"
            );
        }
    }
    stop(client);
}

#[test]
fn the_token_of_a_run_needs_its_run_and_no_change_of_it_is_accepted() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, callback) = endless(&cloud);
    let (_, reply) = cloud.exchange(&callback);
    let (token, run) = (reply["token"].as_str().unwrap(), callback.run_id.as_str());
    let index = "/api/skills/index";
    assert_eq!(
        cloud.send_as(token, run, Method::GET, index, None).0,
        StatusCode::OK
    );
    let other_run = Uuid::now_v7().to_string();
    assert_eq!(
        cloud.send_as(token, &other_run, Method::GET, index, None).0,
        StatusCode::FORBIDDEN
    );
    let bearer = format!("Bearer {token}");
    let (status, _) = cloud.send(Method::GET, index, &[("authorization", &bearer)], None);
    assert_eq!(status, StatusCode::FORBIDDEN, "without the header of the run");
    let claims = token.split('.').nth(1).unwrap();
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{claims}.");
    for wrong in ["", "x", unsigned.as_str(), &token[..token.len() - 1]] {
        assert_eq!(
            cloud.send_as(wrong, run, Method::GET, index, None).0,
            BAD,
            "{wrong}"
        );
    }
    stop(client);
    assert_eq!(
        cloud.send_as(token, run, Method::GET, index, None).0,
        BAD,
        "the run is over"
    );
}

#[test]
fn the_listener_for_the_outside_serves_nothing_of_a_human_and_no_foreign_host() {
    let cloud = Cloud::start(Script::default(), 1);
    for path in [
        "/",
        "/index.html",
        "/js/main.js",
        "/api/v1/state",
        "/api/v1/openapi.json",
        "/login/x",
        "/nothing",
    ] {
        let (status, body) = cloud.send(Method::GET, path, &[], None);
        assert_eq!(status, BAD, "{path}: {body}");
    }
    let (status, _) = cloud.send(Method::GET, "/api/skills/index", &[("host", "evil.test")], None);
    assert_eq!(status, StatusCode::FORBIDDEN);
    let elsewhere = [("origin", "https://evil.test")];
    let body = json!({"token": "cmb_x"});
    let (status, _) = cloud.send(Method::POST, "/api/agent-auth/exchange", &elsewhere, Some(&body));
    assert_eq!(status, StatusCode::FORBIDDEN);
    let page = cloud.home.status().web.unwrap();
    let (status, _) = cloud.send_to(&page, Method::POST, "/api/agent-auth/exchange", &[], Some(&body));
    assert_eq!(
        status, BAD,
        "and the page's listener serves nothing of the outside"
    );
}

#[test]
fn webhook_signature_verification_and_dedupe() {
    let cloud = Cloud::start(Script::endless(), 1);
    let (client, _) = endless(&cloud);
    let body = json!({"event": "statusChange", "id": cloud.launched(), "status": "RUNNING"}).to_string();
    let delivery = ("d-1".to_owned(), body);
    assert_eq!(
        cloud.deliver(&delivery, "another-secret-of-enough-characters"),
        401
    );
    assert_eq!(cloud.deliver(&delivery, WEBHOOK_SECRET), 204);
    assert_eq!(cloud.deliver(&delivery, WEBHOOK_SECRET), 204);
    let malformed = ("d-2".to_owned(), "{\"event\":\"ping\"}".to_owned());
    assert_eq!(cloud.deliver(&malformed, WEBHOOK_SECRET), 400);
    let unnamed = (" ".to_owned(), delivery.1.clone());
    assert_eq!(cloud.deliver(&unnamed, WEBHOOK_SECRET), 400);
    assert_eq!(cloud.number("SELECT count(*) FROM deliveries"), 1);
    let (status, _) = cloud.send(
        Method::POST,
        "/api/adapters/cursor-cloud/webhooks",
        &[],
        Some(&json!({})),
    );
    assert_eq!(status, BAD, "unsigned");
    stop(client);
}

#[test]
fn secrets_are_in_no_output_no_log_no_prompt_and_not_on_disk() {
    let cloud = Cloud::start(Script::timeline(&[(0, "RUNNING"), (3_000, "FINISHED")]), 1);
    let result = cloud.home.scratch().join("result.json");
    let client = cloud.begin(&["launch", "fix it", "--result", result.to_str().unwrap()]);
    let callback = cloud.callback(1);
    let (_, reply) = cloud.exchange(&callback);
    let token = reply["token"].as_str().unwrap().to_owned();
    cloud.send_as(&token, &callback.run_id, Method::GET, "/api/skills/index", None);
    cloud.send_as("wrong", &callback.run_id, Method::GET, "/api/skills/index", None);
    let cue = cloud.question("All done.");
    cloud.home.ok(&["decline", &cue]);
    let run = client.finish();
    run.printed(0);
    let listed = cloud.home.run(&["cloud", "status"]);
    cloud.home.ok(&["broker", "stop"]);
    let mut written = vec![
        ("stdout".to_owned(), run.stdout.into_bytes()),
        ("stderr".to_owned(), run.stderr.into_bytes()),
        ("status".to_owned(), listed.stdout.into_bytes()),
        ("result".to_owned(), std::fs::read(&result).unwrap()),
    ];
    files_below(cloud.home.path(), &mut written);
    assert!(written.len() > 6, "there are files to look through");
    for secret in [API_KEY, WEBHOOK_SECRET, callback.token.as_str(), token.as_str()] {
        for (name, bytes) in &written {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} stands in {name}");
        }
    }
    let prompts = cloud.fake.bodies("POST", "/v0/agents");
    let prompt = prompts[0]["prompt"].to_string();
    assert!(!prompt.contains(API_KEY) && !prompt.contains(WEBHOOK_SECRET) && !prompt.contains(&token));
}

fn files_below(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files_below(&path, found),
            kind if kind.is_file() => {
                found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
            _ => {}
        }
    }
}

#[test]
fn no_verb_prints_the_one_time_token_that_stands_in_a_prompt() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = cloud.begin(&["launch", "fix it"]);
    let callback = cloud.callback(1);
    let agent = cloud.launched();
    eventually("a run that goes on", || {
        client.stdout().contains("RUNNING").then_some(())
    });
    let watcher = cloud.begin(&["watch", &agent]);
    eventually("the prompt is told back", || {
        watcher.stdout().contains("agent-auth/exchange").then_some(())
    });
    let said = cloud.run(&["conversation", &agent]);
    assert!(said.printed(0).contains("agent-auth/exchange"), "{said:?}");
    let status = cloud.run(&["status", &agent]);
    let printed = [
        client.stdout(),
        watcher.stdout(),
        said.stdout,
        status.stdout,
        cloud.home.run(&["cloud", "status"]).stdout,
    ];
    for printed in printed {
        assert!(!printed.contains(&callback.token), "{printed}");
    }
    assert_eq!(
        cloud.number("SELECT count(*) FROM run_events WHERE text LIKE '%cmb_%'"),
        0
    );
    assert_eq!(cloud.exchange(&callback).0, StatusCode::OK, "it was a live one");
}

#[test]
fn a_token_that_an_agent_repeats_in_another_form_is_in_no_output_and_not_on_disk() {
    let token = "cmb_0123456789abcdefghijABCDEFGHIJ0123456789abc";
    let encoded = |before: &str| BASE64.encode(format!("{before}{token}"));
    let forms = [
        format!("https://broker.example/x?token={token}&y=1"),
        format!("%22{token}%22"),
        format!("a string: \\n{token}\\n"),
        format!("_{token}"),
        encoded(""),
        encoded("a"),
        encoded("ab"),
    ];
    let script = Script {
        answers: vec![forms.join(" and ")],
        stream_events: vec![
            ("assistant".into(), json!({"text": &token[..20]})),
            ("assistant".into(), json!({"text": &token[20..]})),
        ],
        ..Script::default()
    };
    for api in ["v0", "v1"] {
        let cloud = Cloud::start(script.clone(), 1);
        let run = cloud.run(&["launch", "fix it", "--no-hap", "--api", api]);
        let printed = run.printed(0);
        assert!(printed.contains("[redacted]"), "{api}: {printed}");
        let parts = [
            token.to_owned(),
            encoded("")[..20].to_owned(),
            encoded("a")[4..24].to_owned(),
        ];
        for part in parts.iter().chain([&encoded("ab")[4..24].to_owned()]) {
            assert!(!printed.contains(part), "{api}: {part} in {printed}");
            let kept = format!("SELECT count(*) FROM run_events WHERE instr(text, '{part}') > 0");
            assert_eq!(cloud.number(&kept), 0, "{api}: {part}");
        }
    }
}
