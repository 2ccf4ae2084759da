//! Resolves the written configuration to usable settings: every field checked, every secret read.

use std::time::Duration;

use crate::api::{ApiGeneration, DEFAULT_BASE_URL};
use crate::error::{ConfigError, invalid};
use crate::secret::{Secret, SecretError};
use crate::settings::CloudSettings;
use crate::syntax::{check_git_name, public_url_problem, repository_key};
use crate::written::CloudConfig;

/// The name of the key's variable.
pub const API_KEY_VARIABLE: &str = "CURSOR_API_KEY";
/// The name of the webhook secret's variable.
pub const WEBHOOK_SECRET_VARIABLE: &str = "CURSOR_WEBHOOK_SECRET";
/// The name of the variable that says where we can be reached.
pub const PUBLIC_URL_VARIABLE: &str = "CUEME_PUBLIC_URL";
/// The shortest webhook secret Cursor takes.
pub const WEBHOOK_SECRET_CHARS_MIN: usize = 32;

pub(crate) const POLL_INTERVAL_SEC_DEFAULT: u64 = 10;
const POLL_INTERVAL_SEC_MAX: u64 = 3_600;
pub(crate) const GRACE_SEC_DEFAULT: u64 = 20;
const GRACE_SEC_MAX: u64 = 3_600;
const TIMEOUT_SEC_MAX: u64 = 30 * 24 * 3_600;
const TEMPLATE_BYTES_MAX: usize = 256 << 10;

/// Whether somebody elsewhere has to reach us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The agent calls back, so a public URL is required.
    Required,
    /// Cursor calls back only if webhooks are on.
    ForWebhooks,
    /// The run exists already: a public URL is used where there is one.
    Optional,
}

impl CloudConfig {
    /// Checks everything and reads the secrets. `var` reads the environment.
    ///
    /// # Errors
    ///
    /// Fails with the first thing that is wrong.
    pub fn settings(
        &self,
        reach: Reach,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<CloudSettings, ConfigError> {
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
            public_url: self.reachable_at(reach, var)?,
            webhook_secret: self.webhook_secret(generation, var)?,
            verify_repository_access: self.verify_repository_access.unwrap_or(false),
            base_url: filled(self.base_url.as_deref()).unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()),
            generation,
            repository,
        })
    }

    /// Returns everything that keeps the configuration from being used, so that one correction can mend it all.
    pub fn problems(&self, reach: Reach, var: &dyn Fn(&str) -> Option<String>) -> Vec<ConfigError> {
        let generation = self.api.unwrap_or_default();
        let access = [
            self.check_fields().err(),
            self.repository().err(),
            self.api_key(var).err(),
            self.reachable_at(reach, var).err(),
            self.webhook_secret(generation, var).err(),
        ];
        let mut problems: Vec<ConfigError> = access.into_iter().flatten().collect();
        problems.extend(self.value_problems());
        problems
    }

    /// Returns the values that are out of range or malformed.
    pub fn value_problems(&self) -> Vec<ConfigError> {
        let checked = [
            self.reference().err(),
            self.branch_name(self.api.unwrap_or_default()).err(),
            self.prompt_template().err(),
            self.poll_interval().err(),
            self.timeout().err(),
            self.grace().err(),
        ];
        checked.into_iter().flatten().collect()
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

    /// Returns the address under which we can be reached; none if there is none and none is needed.
    pub fn reachable_at(
        &self,
        reach: Reach,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, ConfigError> {
        let is_required = match reach {
            Reach::Required => true,
            Reach::ForWebhooks => self.wants_webhooks(self.api.unwrap_or_default()),
            Reach::Optional => false,
        };
        match self.public_url(var) {
            Ok(url) => Ok(Some(url)),
            Err(ConfigError::PublicUrlMissing) if !is_required => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn wants_webhooks(&self, generation: ApiGeneration) -> bool {
        self.enable_webhooks.unwrap_or(true) && generation == ApiGeneration::V0
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
        if !self.wants_webhooks(generation) {
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

/// Returns a text that says something, without the blanks around it.
pub(crate) fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
