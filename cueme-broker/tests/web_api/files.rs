//! Files of a project that a question names: images and patches, and nothing else.

use std::path::Path;

use protocol_spec::id::AgentId;
use protocol_spec::message::TokenScope;
use protocol_spec::outcome::{Kind, Origin};
use serde_json::{Value, json};

use crate::harness::{Browser, TestBroker, Waiting};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";
const PATCH: &str =
    "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-```\n+<script>alert(1)</script>\n";

fn join_in(broker: &TestBroker, project_dir: &Path) -> AgentId {
    broker
        .connect()
        .join("cursor", &project_dir.display().to_string())
}

fn files(browser: &Browser, waiting: &Waiting) -> Vec<Value> {
    let cue = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    cue["files"].as_array().cloned().unwrap_or_default()
}

#[test]
fn images_and_patches_of_the_project_are_given_without_anything_that_runs() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("shot.png"), PNG).unwrap();
    std::fs::write(project.path().join("change.patch"), PATCH).unwrap();
    std::fs::write(project.path().join("drawing.png"), "<svg onload='alert(1)'/>").unwrap();
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = join_in(&broker, project.path());
    let prompt = "See ![it](shot.png), `drawing.png` and change.patch.";
    let asked = broker.ask(&agent, prompt);
    let found = files(&browser, &asked);
    let seen: Vec<(&Value, &Value)> = found.iter().map(|file| (&file["path"], &file["kind"])).collect();
    assert_eq!(
        seen,
        [
            (&json!("shot.png"), &json!("image")),
            (&json!("change.patch"), &json!("patch"))
        ]
    );
    let image = browser.get(found[0]["url"].as_str().unwrap());
    assert_eq!((image.status, image.body()), (200, PNG));
    assert_eq!(image.header("content-type"), Some("image/png"));
    assert_eq!(image.header("x-content-type-options"), Some("nosniff"));
    let policy = image.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("sandbox"),
        "{policy}"
    );
    let patch = browser.get(found[1]["url"].as_str().unwrap()).ok(200);
    let html = patch["html"].as_str().unwrap();
    assert!(
        html.contains("language-diff") && html.contains("&lt;script&gt;"),
        "{html}"
    );
    // A number that names nothing, or a file that cannot be shown, is not there.
    for number in ["1", "3", "-1", "x", "99999999999999999999"] {
        browser
            .get(&format!("/cues/{}/files/{number}", asked.cue))
            .refused(404, "not_found");
    }
    // The file is read when it is looked at, and is what its content says.
    std::fs::write(project.path().join("shot.png"), "now a text").unwrap();
    browser
        .get(found[0]["url"].as_str().unwrap())
        .refused(404, "not_found");
}

#[test]
fn no_path_of_a_question_leads_out_of_its_project() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(home.path().join("secret.png"), PNG).unwrap();
    std::os::unix::fs::symlink(home.path().join("secret.png"), project.join("link.png")).unwrap();
    std::os::unix::fs::symlink(home.path(), project.join("up")).unwrap();
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = join_in(&broker, &project);
    let outside = home.path().join("secret.png").display().to_string();
    let prompt = format!(
        "![a](../secret.png) ![b](link.png) ![c](up/secret.png) ![d]({outside}) ![e](file://{outside}) ![f](x/../../secret.png) `{}/../secret.png` ![g](https://example.org/secret.png)",
        project.display()
    );
    let asked = broker.ask(&agent, &prompt);
    assert!(files(&browser, &asked).is_empty());
    for number in 0..10 {
        browser
            .get(&format!("/cues/{}/files/{number}", asked.cue))
            .refused(404, "not_found");
    }
}

#[test]
fn files_of_other_machines_of_approvals_and_of_decided_questions_are_not_looked_for() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("shot.png"), PNG).unwrap();
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = join_in(&broker, project.path());
    let approval = broker.ask_with(&agent, Kind::Cue, "Run it?\n\nshot.png", None, Origin::Approval);
    assert!(files(&browser, &approval).is_empty());
    browser
        .get(&format!("/cues/{}/files/0", approval.cue))
        .refused(404, "not_found");
    let asked = broker.ask(&agent, "See shot.png");
    assert_eq!(files(&browser, &asked).len(), 1);
    browser.answer(asked.cue, &json!({ "text": "seen" }), 0).ok(200);
    assert!(files(&browser, &asked).is_empty());
    // An agent that joined with a token may be anywhere: its paths mean nothing here.
    let token = broker.token(TokenScope::Join, None);
    let host = format!("127.0.0.1:{}", broker.port);
    let send = |path: &str, body: Value| {
        let headers = [
            ("host", host.as_str()),
            ("authorization", &format!("Bearer {token}")),
            ("content-type", "application/json"),
        ];
        cueme_test_kit::Http::new(broker.port).send("POST", path, &headers, body.to_string().as_bytes())
    };
    let joined = send(
        "/api/v1/hap/join",
        json!({ "runtime": "cursor", "project_dir": project.path() }),
    )
    .ok(201);
    let heard = send(
        "/api/v1/hap/cue",
        json!({ "id": uuid::Uuid::now_v7(), "agent_id": joined["agent_id"], "prompt": "See shot.png", "wait_ms": 0 }),
    );
    let cue = heard.json()["cue_id"].as_str().unwrap().to_owned();
    let shown = browser.get(&format!("/cues/{cue}")).ok(200);
    assert_eq!(shown.get("files"), None);
    // The same words ask something else in another project, whether the file is there or not.
    assert_eq!(shown["names_files"], true);
    browser
        .get(&format!("/cues/{cue}/files/0"))
        .refused(404, "not_found");
}
