//! Checks whether cloud runs can work here, one finding a line.

use cloud_settings::{
    ApiGeneration, CloudConfig, ConfigError, DEFAULT_BASE_URL, Reach, Secret, repository_key,
};
use serde::Serialize;

use super::api::CloudApi;
use super::error::CloudError;
use super::http::RetryPolicy;
use super::limiter::LimitFile;
use super::v0::V0Client;
use super::v1::V1Client;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Runs may fail.
    Warn,
    /// Runs will fail.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The finding, for programs.
    pub code: &'static str,
    /// The severity.
    pub level: Level,
    /// The finding, for people.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// Makes every check that can be made. `var` reads the environment.
pub async fn diagnose(
    config: &CloudConfig,
    reach: Reach,
    var: &(dyn Fn(&str) -> Option<String> + Sync),
    retry: RetryPolicy,
    limits: &LimitFile,
) -> Vec<Check> {
    let generation = config.api.unwrap_or_default();
    let mut checks = Vec::new();
    if let Err(error) = config.check_fields() {
        checks.push(config_error("cursor_cloud_config_invalid", &error));
    }
    let values = config.value_problems();
    checks.extend(
        values
            .iter()
            .map(|error| config_error("cursor_cloud_config_invalid", error)),
    );
    checks.push(check_repository(config));
    checks.push(check_public_url(config, reach, var));
    checks.extend(check_webhook_secret(config, generation, var));
    match config.api_key(var) {
        Ok(key) => checks.extend(check_account(config, key, generation, retry, limits).await),
        Err(error) => checks.push(config_error("cursor_cloud_api_key_missing", &error)),
    }
    checks
}

/// Returns how bad the worst finding is.
pub fn worst(checks: &[Check]) -> Level {
    checks.iter().map(|check| check.level).max().unwrap_or(Level::Ok)
}

fn check_repository(config: &CloudConfig) -> Check {
    match config.repository() {
        Ok(repository) => ok("cursor_cloud_repo_ok", format!("repository {repository}")),
        Err(error @ ConfigError::RepositoryMissing) => config_error("cursor_cloud_repo_missing", &error),
        Err(error) => config_error("cursor_cloud_repo_invalid", &error),
    }
}

fn check_public_url(config: &CloudConfig, reach: Reach, var: &dyn Fn(&str) -> Option<String>) -> Check {
    match config.reachable_at(reach, var) {
        Ok(None) => ok(
            "cursor_cloud_public_url_unneeded",
            "no public URL is needed without webhooks and without questions of the agent".to_owned(),
        ),
        Ok(Some(url)) if is_local(&url) => Check {
            code: "cursor_cloud_public_url_local",
            level: Level::Warn,
            message: format!("public URL {url} is on this machine, where Cursor's machines cannot reach it"),
            hint: Some("use the address of a tunnel or of a public server"),
        },
        Ok(Some(url)) => ok("cursor_cloud_public_url_ok", format!("public URL {url}")),
        Err(error @ ConfigError::PublicUrlMissing) => config_error("cursor_cloud_public_url_missing", &error),
        Err(error) => config_error("cursor_cloud_public_url_invalid", &error),
    }
}

fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or_default();
    ["localhost", "127.", "[::1]", "0.0.0.0"]
        .iter()
        .any(|local| host.starts_with(local))
}

fn check_webhook_secret(
    config: &CloudConfig,
    generation: ApiGeneration,
    var: &dyn Fn(&str) -> Option<String>,
) -> Option<Check> {
    match config.webhook_secret(generation, var) {
        Ok(Some(_)) => Some(ok(
            "cursor_cloud_webhook_secret_ok",
            "webhook secret is set".to_owned(),
        )),
        Ok(None) => None,
        Err(error @ ConfigError::WebhookSecretShort(_)) => {
            Some(config_error("cursor_cloud_webhook_secret_short", &error))
        }
        Err(error) => Some(config_error("cursor_cloud_webhook_secret_missing", &error)),
    }
}

async fn check_account(
    config: &CloudConfig,
    key: Secret,
    generation: ApiGeneration,
    retry: RetryPolicy,
    limits: &LimitFile,
) -> Vec<Check> {
    let base_url = config
        .base_url
        .as_deref()
        .filter(|url| !url.trim().is_empty())
        .unwrap_or(DEFAULT_BASE_URL);
    let api: Result<Box<dyn CloudApi>, CloudError> = match generation {
        ApiGeneration::V0 => V0Client::new(key, base_url, retry).map(|api| Box::new(api) as _),
        ApiGeneration::V1 => V1Client::new(key, base_url, retry).map(|api| Box::new(api) as _),
    };
    let api = match api {
        Ok(api) => api,
        Err(error) => return vec![api_error("cursor_cloud_auth_failed", Level::Error, &error)],
    };
    let mut checks = match api.me().await {
        Ok(me) => {
            let name = me
                .user_email
                .or(me.api_key_name)
                .unwrap_or_else(|| "unknown".to_owned());
            vec![ok("cursor_cloud_auth_ok", format!("the key belongs to {name}"))]
        }
        // Without a valid key, nothing further can be learned.
        Err(error) => return vec![api_error("cursor_cloud_auth_failed", Level::Error, &error)],
    };
    checks.extend(check_model(config, &*api).await);
    checks.extend(check_access(config, &*api, limits).await);
    checks
}

async fn check_model(config: &CloudConfig, api: &dyn CloudApi) -> Option<Check> {
    let model = config
        .model
        .as_deref()
        .map(str::trim)
        .filter(|model| !model.is_empty())?;
    Some(match api.models().await {
        Ok(models) if models.iter().any(|known| known == model) => {
            ok("cursor_cloud_model_ok", format!("model {model}"))
        }
        Ok(models) => Check {
            code: "cursor_cloud_model_unknown",
            level: Level::Warn,
            message: format!("model {model} is not among {}", models.join(", ")),
            hint: Some("choose one of them, or leave model empty"),
        },
        Err(error) => api_error("cursor_cloud_model_probe_failed", Level::Warn, &error),
    })
}

/// Looks whether the key reaches the repository, only if asked to: Cursor allows few such requests.
async fn check_access(config: &CloudConfig, api: &dyn CloudApi, limits: &LimitFile) -> Option<Check> {
    if !config.verify_repository_access.unwrap_or(false) {
        return None;
    }
    let wanted = repository_key(&config.repository)?;
    let unknown = |error: &CloudError| api_error("cursor_cloud_repo_access_unknown", Level::Warn, error);
    match limits.acquire(jiff::Timestamp::now().as_millisecond()) {
        Ok(Ok(())) => {}
        Ok(Err(wait)) => return Some(unknown(&CloudError::RateLimited(wait))),
        Err(error) => {
            return Some(Check {
                code: "cursor_cloud_repo_access_unknown",
                level: Level::Warn,
                message: format!("not asked: the limit of such requests cannot be kept: {error}"),
                hint: Some("make cueme's data directory writable"),
            });
        }
    }
    Some(match api.repositories().await {
        Ok(all)
            if all
                .iter()
                .any(|each| repository_key(each).as_ref() == Some(&wanted)) =>
        {
            ok(
                "cursor_cloud_repo_access_ok",
                "the key reaches the repository".to_owned(),
            )
        }
        Ok(_) => Check {
            code: "cursor_cloud_repo_access_missing",
            level: Level::Warn,
            message: "the key does not reach the repository".to_owned(),
            hint: Some("give Cursor's GitHub app access to it"),
        },
        Err(error) => unknown(&error),
    })
}

fn ok(code: &'static str, message: String) -> Check {
    Check {
        code,
        level: Level::Ok,
        message,
        hint: None,
    }
}

fn config_error(code: &'static str, error: &ConfigError) -> Check {
    Check {
        code,
        level: Level::Error,
        message: error.to_string(),
        hint: error.hint(),
    }
}

fn api_error(code: &'static str, level: Level, error: &CloudError) -> Check {
    Check {
        code,
        level,
        message: error.to_string(),
        hint: error.hint(),
    }
}
