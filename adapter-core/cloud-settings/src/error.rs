//! Errors of a configuration, each with its remedy.

use thiserror::Error;

use crate::resolve::WEBHOOK_SECRET_CHARS_MIN;
use crate::secret::SecretError;

/// An error in a configuration.
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
        /// The reason.
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
            ConfigError::PublicUrlMissing | ConfigError::PublicUrlInvalid(..) => Some(
                "set publicUrl to the https address under which Cursor's machines reach this broker, or add --no-webhooks --no-hap",
            ),
            ConfigError::WebhookSecretMissing | ConfigError::WebhookSecretShort(_) => {
                Some("export CURSOR_WEBHOOK_SECRET=$(openssl rand -hex 32), or set enableWebhooks to false")
            }
            _ => None,
        }
    }
}

/// Describes a value that is not allowed.
pub(crate) fn invalid(field: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Invalid {
        field,
        reason: reason.into(),
    }
}
