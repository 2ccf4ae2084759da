//! The configuration of the cloud adapter: what may be written, and what it must be to be used.
//!
//! [`CloudConfig`] is what a file or a form says. [`CloudSettings`] is what is left after every check, with
//! secrets read, and is all that the rest of the adapter ever sees.
//!
//! | field | default | meaning |
//! |---|---|---|
//! | `repository` | required | URL of the repository |
//! | `ref` | `main` | branch, tag or commit to start from |
//! | `model` | Cursor's choice | model, empty for Cursor's choice |
//! | `autoCreatePr` | `false` | open a pull request at the end |
//! | `branchName` | Cursor's choice | branch to push to (v0 only) |
//! | `promptTemplate` | `{{prompt}}` | the words sent, see [`super::render_template`] |
//! | `pollIntervalSec` | 10 | time between two looks at the status |
//! | `timeoutSec` | 0 | longest run, 0 for no limit |
//! | `graceSec` | 20 | how long a stop may take, and how long late words are waited for |
//! | `publicUrl` | `CUEME_PUBLIC_URL` | where Cursor's machines reach us |
//! | `enableWebhooks` | `true` | have status changes sent to us |
//! | `verifyRepositoryAccess` | `false` | let `doctor` list repositories, which is strictly limited |
//! | `api` | `v0` | generation of the API |
//! | `baseUrl` | Cursor's | address of the API |
//! | `env.CURSOR_API_KEY` | the environment's | the key, better as a reference than as text |
//! | `env.CURSOR_WEBHOOK_SECRET` | the environment's | needed for webhooks, at least 32 characters |

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use super::api::{ApiGeneration, WebhookTarget};
use super::http::DEFAULT_BASE_URL;
use super::secret::{EnvBinding, PlainText, Secret, SecretError};

/// The name of the key's variable.
pub const API_KEY_VARIABLE: &str = "CURSOR_API_KEY";
/// The name of the webhook secret's variable.
pub const WEBHOOK_SECRET_VARIABLE: &str = "CURSOR_WEBHOOK_SECRET";
/// The name of the variable that says where we can be reached.
pub const PUBLIC_URL_VARIABLE: &str = "CUEME_PUBLIC_URL";
/// The path that receives webhooks.
pub const WEBHOOK_PATH: &str = "/api/adapters/cursor-cloud/webhooks";
/// The shortest webhook secret Cursor takes.
pub const WEBHOOK_SECRET_CHARS_MIN: usize = 32;

const POLL_INTERVAL_SEC_DEFAULT: u64 = 10;
const POLL_INTERVAL_SEC_MAX: u64 = 3_600;
const GRACE_SEC_DEFAULT: u64 = 20;
const GRACE_SEC_MAX: u64 = 3_600;
const TIMEOUT_SEC_MAX: u64 = 30 * 24 * 3_600;
const TEMPLATE_BYTES_MAX: usize = 256 << 10;

/// A configuration as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudConfig {
    /// See the table in the module's description; the same holds for every field.
    pub repository: String,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(alias = "auto_create_pr", skip_serializing_if = "Option::is_none")]
    pub auto_create_pr: Option<bool>,
    #[serde(alias = "branch_name", skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    #[serde(alias = "prompt_template", skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    #[serde(alias = "poll_interval_sec", skip_serializing_if = "Option::is_none")]
    pub poll_interval_sec: Option<u64>,
    #[serde(alias = "timeout_sec", skip_serializing_if = "Option::is_none")]
    pub timeout_sec: Option<u64>,
    #[serde(alias = "grace_sec", skip_serializing_if = "Option::is_none")]
    pub grace_sec: Option<u64>,
    #[serde(
        alias = "public_url",
        alias = "paperclipPublicUrl",
        skip_serializing_if = "Option::is_none"
    )]
    pub public_url: Option<String>,
    #[serde(alias = "enable_webhooks", skip_serializing_if = "Option::is_none")]
    pub enable_webhooks: Option<bool>,
    #[serde(alias = "verify_repository_access", skip_serializing_if = "Option::is_none")]
    pub verify_repository_access: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiGeneration>,
    #[serde(alias = "base_url", skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, EnvBinding>,
    /// Fields that do not exist, kept so that they can be named in an error.
    #[serde(flatten, skip_serializing_if = "Map::is_empty")]
    pub unknown: Map<String, Value>,
}

/// A configuration that can be used.
#[derive(Debug, Clone)]
pub struct CloudSettings {
    /// The repository's URL.
    pub repository: String,
    /// Where to start from.
    pub reference: String,
    /// The model; none for Cursor's choice.
    pub model: Option<String>,
    /// Whether a pull request is opened.
    pub auto_create_pr: bool,
    /// The branch; none for Cursor's choice.
    pub branch_name: Option<String>,
    /// The words sent.
    pub prompt_template: String,
    /// The time between two looks at the status.
    pub poll_interval: Duration,
    /// The longest run.
    pub timeout: Option<Duration>,
    /// How long a stop may take, and how long late words are waited for.
    pub grace: Duration,
    /// Where Cursor's machines reach us, without a slash at the end.
    pub public_url: String,
    /// Where and with which secret webhooks are sent, if they are.
    pub webhook_secret: Option<Secret>,
    /// Whether to check access to the repository.
    pub verify_repository_access: bool,
    /// The generation of the API.
    pub generation: ApiGeneration,
    /// The address of the API.
    pub base_url: String,
    /// The key.
    pub api_key: Secret,
}

/// What is wrong with a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A secret stands where it would be stored and shown in plain.
    #[error("{0} must not stand in the configuration itself")]
    PlainSecret(String),
    /// A field does not exist.
    #[error("there is no field {0:?}")]
    UnknownField(String),
    /// No repository is given.
    #[error("repository is missing")]
    RepositoryMissing,
    /// The repository is not a URL of one.
    #[error("repository {0:?} is not the URL of a repository")]
    RepositoryInvalid(String),
    /// A value is not one of those allowed.
    #[error("{field} is not valid: {reason}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// No key is given.
    #[error("no API key: neither env.CURSOR_API_KEY nor the environment variable CURSOR_API_KEY is set")]
    ApiKeyMissing,
    /// No address is given.
    #[error("no public URL: neither publicUrl nor the environment variable CUEME_PUBLIC_URL is set")]
    PublicUrlMissing,
    /// The address is none.
    #[error("public URL {0:?} is not valid: {1}")]
    PublicUrlInvalid(String, &'static str),
    /// Webhooks are on and there is nothing to sign them with.
    #[error("enableWebhooks needs a secret, and env.CURSOR_WEBHOOK_SECRET is not set")]
    WebhookSecretMissing,
    /// The secret is too short for Cursor.
    #[error("CURSOR_WEBHOOK_SECRET has {0} characters, and at least {WEBHOOK_SECRET_CHARS_MIN} are needed")]
    WebhookSecretShort(usize),
    /// A secret could not be read.
    #[error("could not resolve {name}: {source}")]
    Secret {
        /// The variable.
        name: &'static str,
        /// Why not.
        source: SecretError,
    },
}

impl ConfigError {
    /// Returns what the user can do next, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ConfigError::PlainSecret(_) => {
                Some("write env.CURSOR_API_KEY = { type = \"secret_ref\", env = \"CURSOR_API_KEY\" }")
            }
            ConfigError::RepositoryMissing | ConfigError::RepositoryInvalid(_) => {
                Some("write repository = \"https://github.com/owner/name\"")
            }
            ConfigError::ApiKeyMissing => {
                Some("create a key in Cursor's dashboard and export CURSOR_API_KEY")
            }
            ConfigError::PublicUrlMissing | ConfigError::PublicUrlInvalid(..) => {
                Some("set publicUrl to the https address under which Cursor's machines reach this broker")
            }
            ConfigError::WebhookSecretMissing | ConfigError::WebhookSecretShort(_) => {
                Some("export CURSOR_WEBHOOK_SECRET=$(openssl rand -hex 32), or set enableWebhooks to false")
            }
            _ => None,
        }
    }
}

impl CloudConfig {
    /// Checks everything and reads the secrets. `var` reads the environment.
    ///
    /// # Errors
    ///
    /// Fails with the first thing that is wrong.
    pub fn settings(&self, var: &dyn Fn(&str) -> Option<String>) -> Result<CloudSettings, ConfigError> {
        self.check_fields()?;
        let repository = self.repository()?;
        let generation = self.api.unwrap_or_default();
        Ok(CloudSettings {
            reference: self.reference()?,
            model: filled(self.model.as_deref()),
            auto_create_pr: self.auto_create_pr.unwrap_or(false),
            branch_name: self.branch_name(generation)?,
            prompt_template: self.prompt_template()?,
            poll_interval: self.poll_interval()?,
            timeout: self.timeout()?,
            grace: self.grace()?,
            api_key: self.api_key(var)?,
            public_url: self.public_url(var)?,
            webhook_secret: self.webhook_secret(generation, var)?,
            verify_repository_access: self.verify_repository_access.unwrap_or(false),
            base_url: filled(self.base_url.as_deref()).unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()),
            generation,
            repository,
        })
    }

    /// Refuses fields that do not exist, first of all those that hold a secret.
    pub fn check_fields(&self) -> Result<(), ConfigError> {
        let sounds_secret = |name: &str| {
            let name = name.to_ascii_lowercase().replace(['_', '-'], "");
            ["apikey", "secret", "token", "password"]
                .iter()
                .any(|word| name.contains(word))
        };
        if let Some(name) = self.unknown.keys().find(|name| sounds_secret(name)) {
            return Err(ConfigError::PlainSecret(name.clone()));
        }
        match self.unknown.keys().next() {
            Some(name) => Err(ConfigError::UnknownField(name.clone())),
            None => Ok(()),
        }
    }

    /// Returns the repository if it is the URL of one.
    pub fn repository(&self) -> Result<String, ConfigError> {
        let text = self.repository.trim();
        if text.is_empty() {
            return Err(ConfigError::RepositoryMissing);
        }
        match repository_key(text) {
            Some(_) => Ok(text.trim_end_matches('/').to_owned()),
            None => Err(ConfigError::RepositoryInvalid(text.to_owned())),
        }
    }

    /// Reads the key.
    pub fn api_key(&self, var: &dyn Fn(&str) -> Option<String>) -> Result<Secret, ConfigError> {
        self.secret(API_KEY_VARIABLE, var)?
            .ok_or(ConfigError::ApiKeyMissing)
    }

    /// Returns the address under which we can be reached.
    pub fn public_url(&self, var: &dyn Fn(&str) -> Option<String>) -> Result<String, ConfigError> {
        let url = filled(self.public_url.as_deref()).or_else(|| filled(var(PUBLIC_URL_VARIABLE).as_deref()));
        let url = url.ok_or(ConfigError::PublicUrlMissing)?;
        match public_url_problem(&url) {
            Some(problem) => Err(ConfigError::PublicUrlInvalid(url, problem)),
            None => Ok(url.trim_end_matches('/').to_owned()),
        }
    }

    /// Reads the webhook secret if webhooks are on; the second generation of the API has none.
    pub fn webhook_secret(
        &self,
        generation: ApiGeneration,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, ConfigError> {
        if !self.enable_webhooks.unwrap_or(true) || generation == ApiGeneration::V1 {
            return Ok(None);
        }
        let secret = self
            .secret(WEBHOOK_SECRET_VARIABLE, var)?
            .ok_or(ConfigError::WebhookSecretMissing)?;
        match secret.expose().chars().count() {
            count if count < WEBHOOK_SECRET_CHARS_MIN => Err(ConfigError::WebhookSecretShort(count)),
            _ => Ok(Some(secret)),
        }
    }

    fn secret(
        &self,
        name: &'static str,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, ConfigError> {
        match self.env.get(name) {
            Some(binding) => match binding.resolve() {
                Ok(secret) => Ok(Some(secret)),
                Err(SecretError::Empty) => Ok(None),
                Err(source) => Err(ConfigError::Secret { name, source }),
            },
            None => Ok(filled(var(name).as_deref()).map(Secret::new)),
        }
    }

    fn reference(&self) -> Result<String, ConfigError> {
        let reference = filled(self.reference.as_deref()).unwrap_or_else(|| "main".to_owned());
        check_git_name("ref", &reference)?;
        Ok(reference)
    }

    fn branch_name(&self, generation: ApiGeneration) -> Result<Option<String>, ConfigError> {
        let Some(branch) = filled(self.branch_name.as_deref()) else {
            return Ok(None);
        };
        check_git_name("branchName", &branch)?;
        match generation {
            ApiGeneration::V0 => Ok(Some(branch)),
            ApiGeneration::V1 => Err(invalid(
                "branchName",
                "this version of the API chooses the branch itself",
            )),
        }
    }

    fn prompt_template(&self) -> Result<String, ConfigError> {
        let template = self
            .prompt_template
            .clone()
            .filter(|template| !template.trim().is_empty());
        match template {
            Some(template) if template.len() > TEMPLATE_BYTES_MAX => Err(invalid(
                "promptTemplate",
                format!("it is longer than {TEMPLATE_BYTES_MAX} bytes"),
            )),
            Some(template) => Ok(template),
            None => Ok("{{prompt}}".to_owned()),
        }
    }

    fn poll_interval(&self) -> Result<Duration, ConfigError> {
        match self.poll_interval_sec.unwrap_or(POLL_INTERVAL_SEC_DEFAULT) {
            seconds @ 1..=POLL_INTERVAL_SEC_MAX => Ok(Duration::from_secs(seconds)),
            _ => Err(invalid(
                "pollIntervalSec",
                format!("it must be 1 to {POLL_INTERVAL_SEC_MAX}"),
            )),
        }
    }

    fn timeout(&self) -> Result<Option<Duration>, ConfigError> {
        match self.timeout_sec.unwrap_or(0) {
            0 => Ok(None),
            seconds @ 1..=TIMEOUT_SEC_MAX => Ok(Some(Duration::from_secs(seconds))),
            _ => Err(invalid(
                "timeoutSec",
                format!("it must be at most {TIMEOUT_SEC_MAX}"),
            )),
        }
    }

    fn grace(&self) -> Result<Duration, ConfigError> {
        match self.grace_sec.unwrap_or(GRACE_SEC_DEFAULT) {
            seconds @ 0..=GRACE_SEC_MAX => Ok(Duration::from_secs(seconds)),
            _ => Err(invalid("graceSec", format!("it must be at most {GRACE_SEC_MAX}"))),
        }
    }
}

impl CloudSettings {
    /// Returns where Cursor is to send webhooks, if it is.
    pub fn webhook(&self) -> Option<WebhookTarget> {
        let secret = self.webhook_secret.clone()?;
        Some(WebhookTarget {
            url: format!("{}{WEBHOOK_PATH}", self.public_url),
            secret,
        })
    }
}

/// The fields of a form that configures an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormValues {
    /// The repository's URL.
    pub url: String,
    /// The model.
    pub model: Option<String>,
    /// The prompt's template.
    pub prompt_template: Option<String>,
    /// Bindings as the form has them.
    pub env_bindings: BTreeMap<String, EnvBinding>,
    /// Bindings as lines of `NAME=value`, the way older forms had them.
    pub env_text: String,
}

/// Makes the configuration that a form describes, with the defaults written out.
pub fn build_config(values: &FormValues) -> CloudConfig {
    let mut env: BTreeMap<_, _> = values.env_text.lines().filter_map(env_line).collect();
    env.extend(values.env_bindings.clone());
    CloudConfig {
        repository: values.url.trim().to_owned(),
        model: filled(values.model.as_deref()),
        prompt_template: filled(values.prompt_template.as_deref()),
        poll_interval_sec: Some(POLL_INTERVAL_SEC_DEFAULT),
        timeout_sec: Some(0),
        grace_sec: Some(GRACE_SEC_DEFAULT),
        enable_webhooks: Some(true),
        env,
        ..CloudConfig::default()
    }
}

fn env_line(line: &str) -> Option<(String, EnvBinding)> {
    let (name, value) = line.trim().split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| {
        (
            name.to_owned(),
            EnvBinding::Plain(PlainText(value.trim().to_owned())),
        )
    })
}

/// Returns what two spellings of one repository have in common; none if the text names no repository.
pub fn repository_key(text: &str) -> Option<String> {
    let text = text.trim();
    let rest = match text.split_once("://") {
        Some(("https" | "http", rest)) => rest,
        Some(_) => return None,
        None => text,
    };
    let path_and_host = rest.trim_end_matches('/');
    let path_and_host = path_and_host.strip_suffix(".git").unwrap_or(path_and_host);
    let parts: Vec<_> = path_and_host.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    // No user, password, port or query: a repository's URL is stored and shown.
    let is_repository = parts.len() >= 3 && parts[0].contains('.') && parts.iter().all(is_name);
    is_repository.then(|| path_and_host.to_ascii_lowercase())
}

fn public_url_problem(url: &str) -> Option<&'static str> {
    let Some(rest) = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
    else {
        return Some("it must start with https://");
    };
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("it contains blanks");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() {
        return Some("it names no host");
    }
    if authority.contains('@') {
        return Some("it contains a user or a password");
    }
    rest.contains(['?', '#']).then_some("it contains a query")
}

fn check_git_name(field: &'static str, name: &str) -> Result<(), ConfigError> {
    let forbidden = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    if name.contains(forbidden) || name.contains("..") || name.starts_with('-') || name.ends_with(['/', '.'])
    {
        return Err(invalid(field, format!("{name:?} is not a name git accepts")));
    }
    Ok(())
}

fn invalid(field: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Invalid {
        field,
        reason: reason.into(),
    }
}

fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            .settings(&|_| None)
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
        let settings = config.settings(&var).unwrap();
        assert_eq!(
            (settings.api_key.expose(), settings.public_url.as_str()),
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
}
