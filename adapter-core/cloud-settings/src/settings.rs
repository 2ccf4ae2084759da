//! The configuration that is left after every check.

use std::time::Duration;

use crate::api::{ApiGeneration, WEBHOOK_PATH, WebhookTarget};
use crate::secret::Secret;

/// A configuration that can be used.
#[derive(Debug, Clone)]
pub struct CloudSettings {
    /// The repository's URL.
    pub repository: String,
    /// The branch, tag or commit to start from.
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
    /// The timeout of a stop, and of waiting for late messages.
    pub grace: Duration,
    /// The address at which Cursor's machines reach us, without a slash at the end; none if they need not.
    pub public_url: Option<String>,
    /// The secret of the webhooks, if they are sent.
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

impl CloudSettings {
    /// Returns where Cursor is to send webhooks, if it is.
    pub fn webhook(&self) -> Option<WebhookTarget> {
        let secret = self.webhook_secret.clone()?;
        Some(WebhookTarget {
            url: format!("{}{WEBHOOK_PATH}", self.public_url.as_ref()?),
            secret,
        })
    }
}
