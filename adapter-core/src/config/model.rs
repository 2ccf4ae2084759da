//! The types of the configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cursor::cli::{Attempts, CliSpec, PROFILE_DEFAULT};

/// The provider this adapter runs.
pub(super) const PROVIDER: &str = "cursor-agent-cli";

/// The configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The models by name.
    pub models: BTreeMap<String, ModelConfig>,
    /// The model that is used where none is named.
    pub default_model: Option<String>,
    /// The place of each auth profile's key.
    pub auth_profiles: BTreeMap<String, AuthProfile>,
    /// The `web_search` tool.
    pub web_search: WebSearchConfig,
    /// Private addresses, as `host:port`, that `web_fetch` may visit.
    pub web_fetch_allowed: Vec<String>,
    /// Problems that do no harm.
    pub warnings: Vec<super::parse::Problem>,
}

/// One model: a command line with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfig {
    /// The program's name or path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether the prompt is an argument.
    pub prompt_as_arg: bool,
    /// The length, in characters, from which a prompt goes to stdin instead.
    pub prompt_arg_chars_max: usize,
    /// The timeout of a turn.
    pub timeout: Duration,
    /// The auth profiles, the preferred first.
    pub auth_profiles: Vec<String>,
    /// The models to fall back to.
    pub fallback_models: Vec<String>,
    /// Whether it may be used.
    pub enabled: bool,
}

/// The place of a profile's key; never the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuthProfile {
    /// The environment variable that holds it.
    pub api_key_env: Option<String>,
}

/// The `web_search` tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebSearchConfig {
    /// Its endpoint.
    pub endpoint: Option<String>,
    /// The environment variable that holds its token.
    pub token_env: Option<String>,
}

impl Config {
    /// Returns how a model is called; `None` when there is none of this name, or it is disabled.
    pub fn spec(&self, model: &str) -> Option<CliSpec> {
        let model = self.models.get(model).filter(|model| model.enabled)?;
        Some(CliSpec {
            command: model.command.clone(),
            args: model.args.clone(),
            prompt_as_arg: model.prompt_as_arg,
            prompt_arg_chars_max: model.prompt_arg_chars_max,
            deadline: model.timeout,
            ..CliSpec::default()
        })
    }

    /// Plans the attempts for a model: its profiles, then its enabled fallbacks with theirs.
    pub fn attempts(&self, model: &str) -> Attempts {
        let profiles = |name: &str| {
            self.models
                .get(name)
                .map(|model| model.auth_profiles.clone())
                .unwrap_or_default()
        };
        let named = self
            .models
            .get(model)
            .map(|model| model.fallback_models.as_slice())
            .unwrap_or_default();
        let usable = named
            .iter()
            .filter(|name| *name != model && self.models.get(*name).is_some_and(|model| model.enabled));
        Attempts::new(
            model,
            &profiles(model),
            usable.map(|name| (name.clone(), profiles(name))).collect(),
        )
    }

    /// Returns the environment of an auth profile, given how to read this process's own.
    ///
    /// The profile `default` is the environment as it is. Any other takes its key from the variable it names, else
    /// from `CURSOR_API_KEY_<NAME>`.
    pub fn profile_env(
        &self,
        profile: &str,
        read: impl Fn(&str) -> Option<String>,
    ) -> BTreeMap<String, String> {
        let configured = self
            .auth_profiles
            .get(profile)
            .and_then(|profile| profile.api_key_env.clone());
        let variable = match configured {
            Some(variable) => variable,
            None if profile == PROFILE_DEFAULT => return BTreeMap::new(),
            None => format!(
                "CURSOR_API_KEY_{}",
                profile.to_uppercase().replace(['-', '.', ' '], "_")
            ),
        };
        read(&variable)
            .map(|key| ("CURSOR_API_KEY".to_owned(), key))
            .into_iter()
            .collect()
    }
}
