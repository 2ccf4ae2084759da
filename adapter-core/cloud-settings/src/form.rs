//! Converts the fields of a form to a configuration.

use std::collections::BTreeMap;

use crate::resolve::{GRACE_SEC_DEFAULT, POLL_INTERVAL_SEC_DEFAULT, filled};
use crate::secret::{EnvBinding, PlainText};
use crate::written::CloudConfig;

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
