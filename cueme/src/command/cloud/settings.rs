//! The settings of a run: the arguments, then `[cloud]` of the configuration, then the environment.

use adapter_core::cursor::cloud::{
    ApiGeneration, CloudApi, CloudConfig, CloudError, CloudSettings, ConfigError, DEFAULT_BASE_URL, Reach,
    RetryPolicy, V0Client, V1Client,
};
use cueme_broker::config::Config;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use crate::cli::{CloudApiVersion, CloudFields};
use crate::display::counted;
use crate::environment;
use crate::error::CliError;

/// Names another address of Cursor's API, as Cursor's own programs do.
const BASE_URL_VARIABLE: &str = "CURSOR_BACKEND_URL";

/// Reads the configuration and lays the arguments over it.
pub(super) fn configured(places: &Places, fields: &CloudFields) -> Result<CloudConfig, CliError> {
    let loaded = Config::load(&places.config).map_err(|error| {
        CliError::usage(error.to_string()).with_hint(format!("correct {}", places.config.display()))
    })?;
    Ok(lay_over(loaded.cloud, fields))
}

fn lay_over(mut config: CloudConfig, fields: &CloudFields) -> CloudConfig {
    let given = |text: &Option<String>, configured: Option<String>| text.clone().or(configured);
    config.repository = given(&fields.repository, Some(config.repository)).unwrap_or_default();
    config.reference = given(&fields.reference, config.reference);
    config.model = given(&fields.model, config.model);
    config.branch_name = given(&fields.branch_name, config.branch_name);
    config.prompt_template = given(&fields.prompt_template, config.prompt_template);
    config.public_url = given(&fields.public_url, config.public_url);
    config.base_url = config
        .base_url
        .or_else(|| environment::variable(BASE_URL_VARIABLE));
    config.poll_interval_sec = fields.poll_interval_sec.or(config.poll_interval_sec);
    config.timeout_sec = fields.timeout_sec.or(config.timeout_sec);
    config.grace_sec = fields.grace_sec.or(config.grace_sec);
    if fields.auto_create_pr {
        config.auto_create_pr = Some(true);
    }
    if fields.no_webhooks {
        config.enable_webhooks = Some(false);
    }
    config.api = match fields.api {
        Some(CloudApiVersion::V0) => Some(ApiGeneration::V0),
        Some(CloudApiVersion::V1) => Some(ApiGeneration::V1),
        None => config.api,
    };
    config
}

/// Checks a configuration and reads its secrets.
pub(super) fn settings(config: &CloudConfig, reach: Reach) -> Result<CloudSettings, CliError> {
    config.settings(reach, &environment::variable).map_err(|first| {
        match config.problems(reach, &environment::variable).as_slice() {
            [] | [_] => wrong(&first),
            all => wrong_together(all),
        }
    })
}

/// Returns whether Cursor's machines have to reach this one.
pub(super) fn reach(no_hap: bool) -> Reach {
    if no_hap {
        Reach::ForWebhooks
    } else {
        Reach::Required
    }
}

/// Describes several problems at once, each with its remedy.
fn wrong_together(problems: &[ConfigError]) -> CliError {
    let described = problems.iter().map(|problem| match problem.hint() {
        Some(hint) => format!("\n  {problem}: {hint}"),
        None => format!("\n  {problem}"),
    });
    let message = format!(
        "{}:{}",
        counted(problems.len(), "invalid setting"),
        described.collect::<String>()
    );
    CliError::usage(message).with_hint("correct them, then run `cueme cloud doctor`")
}

/// Connects to the API for a call that starts nothing, which needs the key and nothing else.
pub(super) fn connect(
    config: &CloudConfig,
    generation: ApiGeneration,
) -> Result<Box<dyn CloudApi>, CliError> {
    let key = config
        .api_key(&environment::variable)
        .map_err(|error| wrong(&error))?;
    let base_url = config.base_url.as_deref().filter(|url| !url.trim().is_empty());
    let base_url = base_url.unwrap_or(DEFAULT_BASE_URL);
    let retry = RetryPolicy::default();
    let api: Result<Box<dyn CloudApi>, CloudError> = match generation {
        ApiGeneration::V0 => V0Client::new(key, base_url, retry).map(|api| Box::new(api) as _),
        ApiGeneration::V1 => V1Client::new(key, base_url, retry).map(|api| Box::new(api) as _),
    };
    api.map_err(|error| failed(&error))
}

/// Describes what is wrong with a configuration.
pub(super) fn wrong(error: &ConfigError) -> CliError {
    let described = CliError::usage(error.to_string());
    match error.hint() {
        Some(hint) => described.with_hint(hint),
        None => described.with_hint("run `cueme cloud doctor`"),
    }
}

/// Describes what the API refused.
pub(super) fn failed(error: &CloudError) -> CliError {
    let described = CliError::new(Exit::NotFound, error.to_string());
    match error.hint() {
        Some(hint) => described.with_hint(hint),
        None => described,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_before_the_configuration() {
        let configured = CloudConfig {
            repository: "https://github.com/acme/site".to_owned(),
            model: Some("m".to_owned()),
            timeout_sec: Some(5),
            ..CloudConfig::default()
        };
        let fields = CloudFields {
            repository: Some("https://github.com/acme/other".to_owned()),
            no_webhooks: true,
            timeout_sec: Some(9),
            ..CloudFields::default()
        };
        let config = lay_over(configured, &fields);
        assert_eq!(config.repository, "https://github.com/acme/other");
        assert_eq!(
            (config.model.as_deref(), config.timeout_sec),
            (Some("m"), Some(9))
        );
        assert_eq!(config.enable_webhooks, Some(false));
        assert_eq!(
            config.auto_create_pr, None,
            "options that are not given stay as configured"
        );
    }
}
