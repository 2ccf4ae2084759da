//! The configuration of cloud runs: what may be written, and what it must be to be used.
//!
//! A crate of its own, so that the broker reads the `[cloud]` section and the adapter starts runs without either of them
//! depending on the other. It calls no API and opens no listener; it reads secrets from the environment and from files.
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
//! | `promptTemplate` | `{{prompt}}` | the words sent, where `{{name}}` is filled in |
//! | `pollIntervalSec` | 10 | time between two looks at the status |
//! | `timeoutSec` | 0 | longest run, 0 for no limit |
//! | `graceSec` | 20 | how long a stop may take, and how long late words are waited for |
//! | `publicUrl` | `CUEME_PUBLIC_URL` | where Cursor's machines reach us; not needed without webhooks and HAP |
//! | `enableWebhooks` | `true` | have status changes sent to us |
//! | `verifyRepositoryAccess` | `false` | let `doctor` list repositories, which is strictly limited |
//! | `api` | `v0` | generation of the API |
//! | `baseUrl` | Cursor's | address of the API |
//! | `env.CURSOR_API_KEY` | the environment's | the key, better as a reference than as text |
//! | `env.CURSOR_WEBHOOK_SECRET` | the environment's | needed for webhooks, at least 32 characters |

mod form;
mod written;

mod resolve;
mod settings;

mod api;
mod error;
mod names;
mod secret;

#[cfg(test)]
mod tests;

pub use api::{
    ApiGeneration, DEFAULT_BASE_URL, EXCHANGE_PATH, RUN_HEADER, SKILLS_INDEX_PATH, WEBHOOK_PATH,
    WebhookTarget,
};
pub use error::ConfigError;
pub use form::{FormValues, build_config};
pub use names::repository_key;
pub use resolve::{
    API_KEY_VARIABLE, PUBLIC_URL_VARIABLE, Reach, WEBHOOK_SECRET_CHARS_MIN, WEBHOOK_SECRET_VARIABLE,
};
pub use secret::{
    EnvBinding, PlainText, PlainValue, REDACTED, Redactor, Secret, SecretError, SecretPlace, SecretRef,
};
pub use settings::CloudSettings;
pub use written::CloudConfig;
