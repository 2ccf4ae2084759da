//! The environment checks of the cloud adapter.

use adapter_core::cursor::cloud::{Check, CloudConfig, Level, LimitFile, Reach, diagnose, worst};
use cueme_tests::cloud_fake::{API_KEY, FakeCloud, Reply, Script};
use serde_json::{Value, json};

use crate::setting::{REPOSITORY, WEBHOOK_SECRET, fast_retry};

fn config(fake: &FakeCloud) -> Value {
    json!({
        "repository": REPOSITORY,
        "publicUrl": "https://broker.example",
        "baseUrl": fake.base_url(),
        "env": { "CURSOR_API_KEY": API_KEY, "CURSOR_WEBHOOK_SECRET": WEBHOOK_SECRET },
    })
}

async fn check(config: &Value) -> Vec<Check> {
    let config: CloudConfig = serde_json::from_value(config.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let limits = LimitFile::new(folder.path().join("reads.json"));
    diagnose(&config, Reach::Required, &|_| None, fast_retry(), &limits).await
}

fn codes(checks: &[Check]) -> Vec<&str> {
    checks
        .iter()
        .map(|check| check.code.trim_start_matches("cursor_cloud_"))
        .collect()
}

#[tokio::test]
async fn a_good_environment_is_good_and_the_limited_endpoint_is_left_alone() {
    let fake = FakeCloud::start(Script::default()).await;
    let mut config = config(&fake);
    config["model"] = json!("composer-2");
    let checks = check(&config).await;
    assert_eq!(
        codes(&checks),
        [
            "repo_ok",
            "public_url_ok",
            "webhook_secret_ok",
            "auth_ok",
            "model_ok"
        ]
    );
    assert_eq!(worst(&checks), Level::Ok);
    assert_eq!(fake.count("GET", "/repositories"), 0);
}

#[tokio::test]
async fn every_environment_code_has_its_cause() {
    let fake = FakeCloud::start(Script::default()).await;
    let cases: [(&str, Value, &str, Level); 10] = [
        ("repository", json!(""), "repo_missing", Level::Error),
        ("repository", json!("acme"), "repo_invalid", Level::Error),
        (
            "env",
            json!({ "CURSOR_WEBHOOK_SECRET": WEBHOOK_SECRET }),
            "api_key_missing",
            Level::Error,
        ),
        (
            "env",
            json!({ "CURSOR_API_KEY": "wrong-key" }),
            "auth_failed",
            Level::Error,
        ),
        (
            "env",
            json!({ "CURSOR_API_KEY": API_KEY }),
            "webhook_secret_missing",
            Level::Error,
        ),
        (
            "env",
            json!({ "CURSOR_API_KEY": API_KEY, "CURSOR_WEBHOOK_SECRET": "short" }),
            "webhook_secret_short",
            Level::Error,
        ),
        ("model", json!("gpt-99"), "model_unknown", Level::Warn),
        ("publicUrl", json!(""), "public_url_missing", Level::Error),
        (
            "publicUrl",
            json!("broker.example"),
            "public_url_invalid",
            Level::Error,
        ),
        (
            "publicUrl",
            json!("http://127.0.0.1:7000"),
            "public_url_local",
            Level::Warn,
        ),
    ];
    for (key, value, code, level) in cases {
        let mut config = config(&fake);
        config[key] = value;
        let checks = check(&config).await;
        let found = checks.iter().find(|check| check.code.ends_with(code));
        let found = found.unwrap_or_else(|| panic!("{code} not in {checks:?}"));
        assert_eq!(found.level, level, "{code}");
        assert!(found.hint.is_some(), "{code} has no hint");
        let shown = format!("{checks:?}");
        assert!(!shown.contains(API_KEY) && !shown.contains(WEBHOOK_SECRET) && !shown.contains("wrong-key"));
    }
}

#[tokio::test]
async fn models_that_cannot_be_listed_are_a_warning() {
    let script = Script::default().fail("GET", "/v0/models", 10, Reply::status(500, "internal_error"));
    let fake = FakeCloud::start(script).await;
    let mut config = config(&fake);
    config["model"] = json!("composer-2");
    assert!(codes(&check(&config).await).contains(&"model_probe_failed"));
}

#[tokio::test]
async fn access_is_checked_when_asked_for() {
    let fake = FakeCloud::start(Script::default()).await;
    let mut config = config(&fake);
    config["verifyRepositoryAccess"] = json!(true);
    assert!(codes(&check(&config).await).contains(&"repo_access_ok"));
    let again = check(&config).await;
    assert!(
        codes(&again).contains(&"repo_access_unknown"),
        "the API refuses a second list within a minute"
    );
    assert_eq!(worst(&again), Level::Warn);
    config["repository"] = json!("https://github.com/acme/secret");
    let other = FakeCloud::start(Script::default()).await;
    config["baseUrl"] = json!(other.base_url());
    assert!(codes(&check(&config).await).contains(&"repo_access_missing"));
}

#[tokio::test]
async fn the_second_generation_needs_no_webhook_secret() {
    let fake = FakeCloud::start(Script::default()).await;
    let mut config = config(&fake);
    config["api"] = json!("v1");
    config["env"] = json!({ "CURSOR_API_KEY": API_KEY });
    config["model"] = json!("composer-2");
    assert_eq!(
        codes(&check(&config).await),
        ["repo_ok", "public_url_ok", "auth_ok", "model_ok"]
    );
}
