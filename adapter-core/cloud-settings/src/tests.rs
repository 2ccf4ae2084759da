//! Tests of the table of fields.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn full() -> Value {
    json!({
        "repository": "https://github.com/acme/site",
        "publicUrl": "https://broker.example/",
        "env": {
            "CURSOR_API_KEY": "key-of-the-test",
            "CURSOR_WEBHOOK_SECRET": {"type": "plain", "value": SECRET},
        },
    })
}

fn settings(config: &Value) -> Result<CloudSettings, ConfigError> {
    serde_json::from_value::<CloudConfig>(config.clone())
        .unwrap()
        .settings(Reach::Required, &|_| None)
}

fn with(key: &str, value: Value) -> Value {
    let mut config = full();
    config[key] = value;
    config
}

#[test]
fn defaults_are_those_documented() {
    let settings = settings(&full()).unwrap();
    assert_eq!(settings.reference, "main");
    assert_eq!(settings.model, None);
    assert!(!settings.auto_create_pr && !settings.verify_repository_access);
    assert_eq!(settings.poll_interval, Duration::from_secs(10));
    assert_eq!(
        (settings.timeout, settings.grace),
        (None, Duration::from_secs(20))
    );
    assert_eq!(
        settings.webhook().unwrap().url,
        "https://broker.example/api/adapters/cursor-cloud/webhooks"
    );
    assert_eq!(settings.generation, ApiGeneration::V0);
    assert_eq!(settings.base_url, "https://api.cursor.com");
}

#[test]
fn the_environment_stands_in_for_what_is_not_written() {
    let config: CloudConfig =
        serde_json::from_value(json!({"repository": "https://github.com/acme/site"})).unwrap();
    let var = |name: &str| match name {
        "CURSOR_API_KEY" => Some("from-env".to_owned()),
        "CURSOR_WEBHOOK_SECRET" => Some(SECRET.to_owned()),
        "CUEME_PUBLIC_URL" => Some("https://env.example".to_owned()),
        _ => None,
    };
    let settings = config.settings(Reach::Required, &var).unwrap();
    assert_eq!(
        (settings.api_key.expose(), settings.public_url.as_deref().unwrap()),
        ("from-env", "https://env.example")
    );
}

#[test]
fn a_secret_at_the_top_level_is_refused() {
    for name in ["apiKey", "api_key", "webhookSecret", "CURSOR_API_KEY"] {
        let error = settings(&with(name, json!("x"))).unwrap_err();
        assert!(matches!(error, ConfigError::PlainSecret(_)), "{name}: {error}");
    }
    assert!(matches!(
        settings(&with("pollInterval", json!(3))),
        Err(ConfigError::UnknownField(_))
    ));
}

#[test]
fn what_is_missing_is_named() {
    assert!(matches!(
        settings(&with("repository", json!(" "))),
        Err(ConfigError::RepositoryMissing)
    ));
    assert!(matches!(
        settings(&with("publicUrl", json!(""))),
        Err(ConfigError::PublicUrlMissing)
    ));
    assert!(matches!(
        settings(&with("env", json!({}))),
        Err(ConfigError::ApiKeyMissing)
    ));
    let no_secret = with("env", json!({"CURSOR_API_KEY": "k"}));
    assert!(matches!(
        settings(&no_secret),
        Err(ConfigError::WebhookSecretMissing)
    ));
    let short = with(
        "env",
        json!({"CURSOR_API_KEY": "k", "CURSOR_WEBHOOK_SECRET": "short"}),
    );
    let error = settings(&short).unwrap_err();
    assert!(matches!(error, ConfigError::WebhookSecretShort(5)));
    assert!(error.hint().is_some());
}

#[test]
fn webhooks_that_are_off_need_no_secret() {
    let mut config = with("env", json!({"CURSOR_API_KEY": "k"}));
    config["enableWebhooks"] = json!(false);
    assert!(settings(&config).unwrap().webhook().is_none());
    config["enableWebhooks"] = json!(true);
    config["api"] = json!("v1");
    assert!(
        settings(&config).unwrap().webhook().is_none(),
        "v1 has no webhooks"
    );
}

#[test]
fn values_out_of_range_are_refused() {
    for (key, value) in [
        ("pollIntervalSec", json!(0)),
        ("graceSec", json!(100_000)),
        ("timeoutSec", json!(u64::MAX)),
        ("ref", json!("a b")),
        ("branchName", json!("x..y")),
        ("publicUrl", json!("ftp://x")),
        ("publicUrl", json!("https://user:pass@x")),
    ] {
        assert!(settings(&with(key, value.clone())).is_err(), "{key} = {value}");
    }
}

#[test]
fn repositories_are_told_apart_by_host_and_path_alone() {
    let key = repository_key("https://github.com/Acme/Site").unwrap();
    for same in [
        "https://github.com/acme/site.git",
        "http://GitHub.com/acme/site/",
        "github.com/acme/site",
    ] {
        assert_eq!(repository_key(same).as_deref(), Some(key.as_str()), "{same}");
    }
    for none in [
        "",
        "acme/site",
        "https://github.com/acme",
        "ssh://github.com/a/b",
        "https://t@github.com/a/b",
    ] {
        assert_eq!(repository_key(none), None, "{none}");
    }
}

#[test]
fn persists_schema_values() {
    let written = json!({
        "repository": "https://github.com/acme/site", "ref": "dev", "model": "m", "autoCreatePr": true,
        "branchName": "b", "promptTemplate": "{{prompt}}", "pollIntervalSec": 5, "timeoutSec": 60,
        "graceSec": 3, "publicUrl": "https://x.example", "enableWebhooks": false,
        "verifyRepositoryAccess": true, "api": "v1", "baseUrl": "https://y.example",
        "env": {"CURSOR_API_KEY": {"type": "secret_ref", "env": "K"}},
    });
    let config: CloudConfig = serde_json::from_value(written.clone()).unwrap();
    assert!(config.unknown.is_empty());
    assert_eq!(serde_json::to_value(&config).unwrap(), written);
    let snake = json!({"repository": "r", "poll_interval_sec": 5, "public_url": "u"});
    let config: CloudConfig = serde_json::from_value(snake).unwrap();
    assert_eq!((config.poll_interval_sec, config.unknown.len()), (Some(5), 0));
}

#[test]
fn config_builder_env_binding_handling() {
    let reference: EnvBinding =
        serde_json::from_value(json!({"type": "secret_ref", "env": "MY_KEY"})).unwrap();
    let values = FormValues {
        url: " https://github.com/acme/site ".to_owned(),
        env_text: "CURSOR_API_KEY=old\nOTHER=1\nnot a line\n=x".to_owned(),
        env_bindings: [("CURSOR_API_KEY".to_owned(), reference.clone())].into(),
        ..FormValues::default()
    };
    let config = build_config(&values);
    assert_eq!(config.repository, "https://github.com/acme/site");
    assert_eq!(
        config.env["CURSOR_API_KEY"], reference,
        "bindings win over text and keep their shape"
    );
    assert_eq!(config.env.len(), 2);
    let written = serde_json::to_value(&config).unwrap();
    assert_eq!(written["pollIntervalSec"], 10);
    assert_eq!(written["timeoutSec"], 0);
    assert_eq!(written["graceSec"], 20);
    assert_eq!(written["enableWebhooks"], true);
    assert_eq!(
        written["env"]["CURSOR_API_KEY"],
        json!({"type": "secret_ref", "env": "MY_KEY"})
    );
}

#[test]
fn merges_env_bindings_over_legacy_text() {
    let plain: EnvBinding = serde_json::from_value(json!({"type": "plain", "value": "new"})).unwrap();
    let values = FormValues {
        url: "https://github.com/acme/site".to_owned(),
        env_text: "A=old\nB=kept".to_owned(),
        env_bindings: [("A".to_owned(), plain.clone())].into(),
        ..FormValues::default()
    };
    let env = build_config(&values).env;
    assert_eq!(env["A"], plain);
    assert_eq!(serde_json::to_value(&env["B"]).unwrap(), json!("kept"));
}

#[test]
fn a_public_url_is_needed_where_somebody_calls_back() {
    let config = CloudConfig {
        repository: "https://github.com/acme/site".to_owned(),
        ..CloudConfig::default()
    };
    let quiet = CloudConfig {
        enable_webhooks: Some(false),
        ..config.clone()
    };
    let v1 = CloudConfig {
        api: Some(ApiGeneration::V1),
        ..config.clone()
    };
    let is_missing = |config: &CloudConfig, reach| {
        matches!(
            config.reachable_at(reach, &|_| None),
            Err(ConfigError::PublicUrlMissing)
        )
    };
    for config in [&config, &quiet, &v1] {
        assert!(is_missing(config, Reach::Required));
        assert!(!is_missing(config, Reach::Optional));
    }
    assert!(is_missing(&config, Reach::ForWebhooks));
    assert!(!is_missing(&quiet, Reach::ForWebhooks) && !is_missing(&v1, Reach::ForWebhooks));
    let wrong = CloudConfig {
        public_url: Some("broker.example".to_owned()),
        ..quiet
    };
    assert!(wrong.reachable_at(Reach::Optional, &|_| None).is_err());
}
