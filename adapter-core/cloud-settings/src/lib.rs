//! The configuration of cloud runs: what may be written, and what it must be to be used.
//!
//! A crate of its own, so that the broker reads the `[cloud]` section and the adapter starts runs without either of them
//! depending on the other. It calls no API and opens no listener; it reads secrets from the environment and from files.
//!
//! [`CloudConfig`] is what a file or a form says. [`CloudSettings`] is what is left after every check, with
//! secrets read, and is all that the rest of the adapter ever sees. The documentation of a field of [`CloudConfig`] is its row in
//! the user's documentation.

mod form;
mod written;

mod resolve;
mod settings;

mod api;
mod error;
mod secret;
mod syntax;

#[cfg(test)]
mod tests;

pub use api::{
    ApiGeneration, DEFAULT_BASE_URL, EXCHANGE_PATH, RUN_HEADER, SKILLS_INDEX_PATH, WEBHOOK_PATH,
    WebhookTarget,
};
pub use error::ConfigError;
pub use form::{FormValues, build_config};
pub use resolve::{
    API_KEY_VARIABLE, PUBLIC_URL_VARIABLE, Reach, WEBHOOK_SECRET_CHARS_MIN, WEBHOOK_SECRET_VARIABLE,
};
pub use secret::{
    EnvBinding, PlainText, PlainValue, REDACTED, Redactor, Secret, SecretError, SecretPlace, SecretRef,
};
pub use settings::CloudSettings;
pub use syntax::repository_key;
pub use written::CloudConfig;
