//! Starts a run in the cloud with the fields that a human filled in, and the configured values for the others.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cloud_settings::{
    API_KEY_VARIABLE, ApiGeneration, CloudConfig, ConfigError, EnvBinding, Reach, WEBHOOK_SECRET_VARIABLE,
};
use protocol_spec::id::RunId;
use protocol_spec::message::{Run, RunKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::list::find;
use super::view::RunShown;
use crate::runs::{Started, start_run};
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// The part of a task that the list shows.
const TITLE_CHARS_MAX: usize = 200;

/// A run in the cloud. Everything but the prompt may be left to the configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchBody {
    /// The task.
    prompt: String,
    /// The values that differ from the configuration.
    #[serde(default)]
    config: LaunchFields,
}

/// The fields of the configuration that a run may differ in.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_create_pr: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_sec: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_sec: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_sec: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_webhooks: Option<bool>,
    /// `v0` or `v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<String>,
    /// Where `CURSOR_API_KEY` and `CURSOR_WEBHOOK_SECRET` come from: `{"type":"secret_ref","env":NAME}`,
    /// `{"type":"secret_ref","file":PATH}` or `{"type":"plain","value":TEXT}`. Not kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, Value>,
}

impl Input for LaunchBody {}

/// The defaults of a new run. Secrets are shown only as present or absent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CloudForm {
    config: LaunchFields,
    has_api_key: bool,
    has_webhook_secret: bool,
    /// Whether agents in the cloud can reach the broker, to ask and to send webhooks.
    is_public: bool,
}

/// Returns the defaults of a new run.
pub(super) async fn form(State(web): State<Shared>) -> Json<CloudForm> {
    let config = web.broker.config().cloud.clone();
    let generation = config.api.unwrap_or_default();
    Json(CloudForm {
        has_api_key: config.api_key(&variable).is_ok(),
        has_webhook_secret: matches!(config.webhook_secret(ApiGeneration::V0, &variable), Ok(Some(_))),
        is_public: web.broker.is_public(),
        config: LaunchFields {
            public_url: config.public_url(&variable).ok(),
            api: Some(match generation {
                ApiGeneration::V0 => "v0".to_owned(),
                ApiGeneration::V1 => "v1".to_owned(),
            }),
            repository: Some(config.repository),
            reference: config.reference,
            model: config.model,
            auto_create_pr: config.auto_create_pr,
            branch_name: config.branch_name,
            prompt_template: config.prompt_template,
            poll_interval_sec: config.poll_interval_sec,
            timeout_sec: config.timeout_sec,
            grace_sec: config.grace_sec,
            enable_webhooks: config.enable_webhooks,
            env: BTreeMap::new(),
        },
    })
}

/// Starts a run.
pub(super) async fn launch(
    State(web): State<Shared>,
    Sent(body): Sent<LaunchBody>,
) -> Result<(StatusCode, Json<RunShown>), ApiError> {
    if body.prompt.trim().is_empty() {
        return Err(ApiError::bad_request("the task is empty"));
    }
    let config = body.config.over(web.broker.config().cloud.clone())?;
    let settings = config
        .settings(Reach::Required, &variable)
        .map_err(|first| refused(&first, &config.problems(Reach::Required, &variable)))?;
    let run = Run {
        run_id: RunId(Uuid::now_v7()),
        kind: RunKind::Cloud,
        agent_id: None,
        project: settings.repository,
        title: title(&body.prompt),
        status: "STARTING".to_owned(),
        end: None,
        error: None,
        session: None,
        session_params: None,
        model: settings.model,
        branch: None,
        pr_url: None,
        url: None,
    };
    let started = Started {
        run,
        arguments: ["cloud", "launch", "--form", "--json"].map(str::to_owned).into(),
        input: json!({ "prompt": body.prompt, "config": config }).to_string(),
    };
    let run_id = start_run(&web.broker, started).await?;
    Ok((StatusCode::CREATED, Json(find(&web, run_id).await?.into())))
}

impl LaunchFields {
    /// Merges the given fields over the configured values.
    fn over(self, configured: CloudConfig) -> Result<CloudConfig, ApiError> {
        let mut config = configured;
        let env = self.env.into_iter().map(binding).collect::<Result<Vec<_>, _>>()?;
        config.env.extend(env);
        config.repository = self.repository.unwrap_or(config.repository);
        config.reference = self.reference.or(config.reference);
        config.model = self.model.or(config.model);
        config.auto_create_pr = self.auto_create_pr.or(config.auto_create_pr);
        config.branch_name = self.branch_name.or(config.branch_name);
        config.prompt_template = self.prompt_template.or(config.prompt_template);
        config.poll_interval_sec = self.poll_interval_sec.or(config.poll_interval_sec);
        config.timeout_sec = self.timeout_sec.or(config.timeout_sec);
        config.grace_sec = self.grace_sec.or(config.grace_sec);
        config.public_url = self.public_url.or(config.public_url);
        config.enable_webhooks = self.enable_webhooks.or(config.enable_webhooks);
        config.api = match self.api.as_deref() {
            None => config.api,
            Some("v0") => Some(ApiGeneration::V0),
            Some("v1") => Some(ApiGeneration::V1),
            Some(_) => return Err(ApiError::bad_request("api is `v0` or `v1`")),
        };
        Ok(config)
    }
}

fn binding((name, value): (String, Value)) -> Result<(String, EnvBinding), ApiError> {
    if ![API_KEY_VARIABLE, WEBHOOK_SECRET_VARIABLE].contains(&name.as_str()) {
        return Err(ApiError::bad_request(format!(
            "env takes {API_KEY_VARIABLE} and {WEBHOOK_SECRET_VARIABLE}"
        )));
    }
    // The value may be a secret, so the error does not repeat it.
    let binding = serde_json::from_value(value)
        .map_err(|_| ApiError::bad_request(format!("env.{name} is neither a reference nor a value")))?;
    Ok((name, binding))
}

/// Reports all errors at once, with the remedy of the first.
fn refused(first: &ConfigError, all: &[ConfigError]) -> ApiError {
    let described: Vec<String> = all.iter().map(ToString::to_string).collect();
    let refused = ApiError::bad_request(described.join("; "));
    match first.hint() {
        Some(hint) => refused.with_hint(hint),
        None => refused,
    }
}

/// Returns the beginning of a task.
pub(super) fn title(prompt: &str) -> String {
    let first = prompt.trim().lines().next().unwrap_or_default();
    first.chars().take(TITLE_CHARS_MAX).collect()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
