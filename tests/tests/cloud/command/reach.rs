//! The way back to the broker: which names it serves, and what `cloud doctor` finds.

use std::net::TcpListener;

use cueme_tests::Client;
use cueme_tests::cloud_fake::Script;
use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::cloud::{Cloud, events};

/// Runs a command without the address that tests set in its environment.
fn without_url(cloud: &Cloud, words: &[&str]) -> cueme_tests::Run {
    let mut command = cloud.command(words);
    command.env_remove("CUEME_PUBLIC_URL");
    Client::start(&mut command, b"").finish()
}

fn codes(stdout: &str) -> Vec<String> {
    let code = |check: &Value| check["code"].as_str().unwrap().replace("cursor_cloud_", "");
    events(stdout).iter().map(code).collect()
}

#[test]
fn the_address_of_a_run_is_served_until_the_run_ends() {
    let cloud = Cloud::start(Script::endless(), 1);
    let client = cloud.begin(&["launch", "x", "--public-url", "https://broker.example"]);
    let callback = cloud.callback(1);
    let exchange = |host: &str| {
        let body = json!({"token": callback.token, "runId": callback.run_id});
        let path = "/api/agent-auth/exchange";
        cloud.send(Method::POST, path, &[("host", host)], Some(&body)).0
    };
    assert_eq!(exchange("evil.example"), StatusCode::FORBIDDEN);
    assert_eq!(exchange("broker.example"), StatusCode::OK);
    client.signal(Signal::INT);
    client.finish().printed(130);
    cloud.home.kill_broker();
    cloud.home.ok(&["agents"]);
    assert_eq!(exchange("broker.example"), StatusCode::FORBIDDEN);
}

#[test]
fn doctor_fetches_the_address_and_says_where_it_leads() {
    let cloud = Cloud::start(Script::default(), 1);
    let good = codes(cloud.run(&["doctor"]).printed(0));
    assert!(good.contains(&"public_url_reaches_broker".to_owned()), "{good:?}");
    let elsewhere = cloud.run(&["doctor", "--public-url", cloud.fake.base_url()]);
    let found = codes(elsewhere.printed(1));
    assert!(found.contains(&"public_url_unreachable".to_owned()), "{found:?}");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let found = codes(cloud.run(&["doctor", "--public-url", &url]).printed(1));
    assert!(found.contains(&"public_url_unreachable".to_owned()), "{found:?}");
}

#[test]
fn doctor_and_launch_say_that_nobody_can_call_a_broker_without_a_listener() {
    let cloud = Cloud::start(Script::default(), 1);
    cloud.make_private();
    let doctor = cloud.run(&["doctor"]);
    let found = codes(doctor.printed(1));
    assert!(found.contains(&"listener_missing".to_owned()), "{found:?}");
    let launch = cloud.run(&["launch", "x", "--no-hap"]);
    launch.printed(0);
    assert!(
        launch.stderr.contains("webhooks cannot arrive"),
        "{}",
        launch.stderr
    );
}

#[test]
fn a_run_that_nobody_calls_back_needs_no_public_url() {
    let cloud = Cloud::start(Script::default(), 1);
    let words = ["cloud", "launch", "x", "--no-webhooks", "--no-hap"];
    without_url(&cloud, &words).printed(0);
    let v1 = ["cloud", "launch", "x", "--no-hap", "--api", "v1"];
    without_url(&cloud, &v1).printed(0);
    let doctor = without_url(&cloud, &["cloud", "doctor", "--no-webhooks", "--no-hap"]);
    let found = codes(doctor.printed(0));
    assert!(found.contains(&"public_url_unneeded".to_owned()), "{found:?}");
    without_url(&cloud, &["cloud", "launch", "x", "--no-hap"]).refused(2, &["no public URL"]);
    without_url(&cloud, &["cloud", "launch", "x", "--no-webhooks"]).refused(2, &["no public URL"]);
    let launched = cloud.fake.bodies("POST", "/v0/agents");
    assert_eq!(launched.len(), 1);
}

#[test]
fn repositories_are_listed_once_a_minute_by_all_processes_together() {
    let cloud = Cloud::start(Script::default(), 1);
    let config = std::fs::read_to_string(cloud.home.path().join("config.toml")).unwrap();
    cloud
        .home
        .configure(&format!("{config}\nverifyRepositoryAccess = true\n"));
    let at_once: Vec<Client> = (0..4).map(|_| cloud.begin(&["doctor"])).collect();
    let found: Vec<Vec<String>> = at_once
        .into_iter()
        .map(|doctor| codes(doctor.finish().printed(0)))
        .collect();
    let listed = |codes: &&Vec<String>| codes.contains(&"repo_access_ok".to_owned());
    assert_eq!(found.iter().filter(listed).count(), 1, "{found:?}");
    let second = codes(cloud.run(&["doctor"]).printed(0));
    assert!(second.contains(&"repo_access_unknown".to_owned()), "{second:?}");
    assert_eq!(cloud.fake.count("GET", "/v0/repositories"), 1);
}
