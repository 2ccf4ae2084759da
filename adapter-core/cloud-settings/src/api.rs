//! Names and paths that both ends of a cloud run know: the adapter that starts it and the broker that it calls back.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The address of Cursor's API.
pub const DEFAULT_BASE_URL: &str = "https://api.cursor.com";
/// The path that Cursor sends status changes to.
pub const WEBHOOK_PATH: &str = "/api/adapters/cursor-cloud/webhooks";
/// The path where a one-time token is exchanged.
pub const EXCHANGE_PATH: &str = "/api/agent-auth/exchange";
/// The path that lists skills.
pub const SKILLS_INDEX_PATH: &str = "/api/skills/index";
/// The header that names the run in every call back to us.
pub const RUN_HEADER: &str = "X-Cueme-Run-Id";

/// A generation of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiGeneration {
    /// Webhooks and polling.
    #[default]
    V0,
    /// Runs with a stream of events.
    V1,
}

/// A receiver of webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The address.
    pub url: String,
    /// The key that signs deliveries.
    pub secret: Secret,
}
