//! The configuration as a file or a form writes it, checked by nobody yet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::ApiGeneration;
use crate::secret::EnvBinding;

/// A configuration as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudConfig {
    /// See the table in the module's description; the same holds for every field.
    pub repository: String,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(alias = "auto_create_pr", skip_serializing_if = "Option::is_none")]
    pub auto_create_pr: Option<bool>,
    #[serde(alias = "branch_name", skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    #[serde(alias = "prompt_template", skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    #[serde(alias = "poll_interval_sec", skip_serializing_if = "Option::is_none")]
    pub poll_interval_sec: Option<u64>,
    #[serde(alias = "timeout_sec", skip_serializing_if = "Option::is_none")]
    pub timeout_sec: Option<u64>,
    #[serde(alias = "grace_sec", skip_serializing_if = "Option::is_none")]
    pub grace_sec: Option<u64>,
    #[serde(
        alias = "public_url",
        alias = "paperclipPublicUrl",
        skip_serializing_if = "Option::is_none"
    )]
    pub public_url: Option<String>,
    #[serde(alias = "enable_webhooks", skip_serializing_if = "Option::is_none")]
    pub enable_webhooks: Option<bool>,
    #[serde(alias = "verify_repository_access", skip_serializing_if = "Option::is_none")]
    pub verify_repository_access: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiGeneration>,
    #[serde(alias = "base_url", skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, EnvBinding>,
    /// Fields that do not exist, kept so that they can be named in an error.
    #[serde(flatten, skip_serializing_if = "Map::is_empty")]
    pub unknown: Map<String, Value>,
}
