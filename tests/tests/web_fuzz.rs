//! The API against whatever its own description allows, and what it does not: schemathesis finds no answer above 499.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail their test")]

use std::process::{Command, Output};

use cueme_tests::Home;

/// Cases for each operation in the phase that makes them up; the phase that covers each limit comes on top.
const EXAMPLES: &str = "10";

#[test]
fn no_request_makes_the_broker_fail() {
    let Some(python) = cueme_tests::python_with("schemathesis", "schemathesis>=4,<5") else {
        return cueme_tests::not_run_without("schemathesis (pip)");
    };
    let home = Home::created();
    let agent = home.join_as("terminal");
    let (_asking, _) = home.ask(
        &agent,
        "Shall I?",
        Some("{\"type\":\"choice\",\"options\":[\"A\",\"B\"]}"),
    );
    let origin = origin(&home);
    let description = home.path().join("openapi.json");
    let human = token(&home, &["--scope", "human"]);
    std::fs::write(&description, fetch(&origin, &human)).unwrap();
    for (token, paths) in [
        // A stream never ends, and a revoked token or device would end the run.
        (human, "^(?!.*(/events|/hap/|/tokens/|/devices/)).*$"),
        (token(&home, &["--agent", &agent]), "/hap/(ack|recall|cues)"),
        (token(&home, &[]), "/hap/join"),
    ] {
        let output = Command::new(&python)
            .args(["-m", "schemathesis.cli", "run"])
            .arg(&description)
            .args([
                "--url",
                &origin,
                "--header",
                &format!("Authorization: Bearer {token}"),
            ])
            .args(["--checks", "not_a_server_error", "--phases", "coverage,fuzzing"])
            .args(["--max-examples", EXAMPLES, "--include-path-regex", paths])
            .args(["--request-timeout", "40", "--warnings", "off"])
            .current_dir(home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{paths}\n{}", told(&output));
        println!("{}", told(&output));
    }
    home.run(&["broker", "status"]).expect(0);
}

fn told(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let tail: Vec<&str> = stdout.lines().rev().take(40).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    format!("{}\n{}", tail.join("\n"), String::from_utf8_lossy(&output.stderr))
}

fn origin(home: &Home) -> String {
    let link = home.run(&["ui", "--print-url"]).expect(0).stdout;
    let host = link.trim().strip_prefix("http://").unwrap();
    format!("http://{}", host.split('/').next().unwrap())
}

fn token(home: &Home, words: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once("token").chain(words.iter().copied()).collect();
    home.run(&words).expect(0).stdout.trim().to_owned()
}

fn fetch(origin: &str, token: &str) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let request = adapter_core::http::client()
            .build()
            .unwrap()
            .get(format!("{origin}/api/v1/openapi.json"))
            .bearer_auth(token);
        let response = request.send().await.unwrap().error_for_status().unwrap();
        response.text().await.unwrap()
    })
}
