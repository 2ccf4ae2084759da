//! The configuration as a file or a form writes it, not validated yet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::ApiGeneration;
use crate::secret::EnvBinding;

/// A configuration as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudConfig {
    /// URL of the repository.
    ///
    /// Default: required to launch.
    pub repository: String,
    /// Branch, tag or commit to start from.
    ///
    /// Default: `main`.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Model.
    ///
    /// Default: Cursor's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Open a pull request at the end.
    ///
    /// Default: `false`.
    #[serde(alias = "auto_create_pr", skip_serializing_if = "Option::is_none")]
    pub auto_create_pr: Option<bool>,
    /// Branch to push to (API v0 only).
    ///
    /// Default: Cursor's choice.
    #[serde(alias = "branch_name", skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// Template of the text to send, in which `{{prompt}}` is the task.
    ///
    /// Default: `{{prompt}}`.
    #[serde(alias = "prompt_template", skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// Seconds between two status requests.
    ///
    /// Default: 10.
    #[serde(alias = "poll_interval_sec", skip_serializing_if = "Option::is_none")]
    pub poll_interval_sec: Option<u64>,
    /// Longest run in seconds; 0 means no limit.
    ///
    /// Default: 0.
    #[serde(alias = "timeout_sec", skip_serializing_if = "Option::is_none")]
    pub timeout_sec: Option<u64>,
    /// Seconds to wait for a stop.
    ///
    /// Default: 20.
    #[serde(alias = "grace_sec", skip_serializing_if = "Option::is_none")]
    pub grace_sec: Option<u64>,
    /// URL at which Cursor's machines reach this broker; not needed with `--no-webhooks --no-hap`.
    ///
    /// Default: `CUEME_PUBLIC_URL`.
    #[serde(
        alias = "public_url",
        alias = "paperclipPublicUrl",
        skip_serializing_if = "Option::is_none"
    )]
    pub public_url: Option<String>,
    /// Receive status changes as webhooks.
    ///
    /// Default: `true`.
    #[serde(alias = "enable_webhooks", skip_serializing_if = "Option::is_none")]
    pub enable_webhooks: Option<bool>,
    /// Let `cueme cloud doctor` list repositories, which Cursor limits strictly.
    ///
    /// Default: `false`.
    #[serde(alias = "verify_repository_access", skip_serializing_if = "Option::is_none")]
    pub verify_repository_access: Option<bool>,
    /// Generation of Cursor's API: `v0` or `v1`.
    ///
    /// Default: `v0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiGeneration>,
    /// Address of the API.
    ///
    /// Default: Cursor's.
    #[serde(alias = "base_url", skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// `CURSOR_API_KEY` and `CURSOR_WEBHOOK_SECRET` (at least 32 characters), as references.
    ///
    /// Default: the environment's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, EnvBinding>,
    /// Fields that do not exist, kept so that they can be named in an error.
    #[serde(flatten, skip_serializing_if = "Map::is_empty")]
    pub unknown: Map<String, Value>,
}
