//! Rules that humans made in the page: their format, and their storage among the settings.

use protocol_spec::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::Policy;
use crate::store::{Reader, StoreError};

/// The name of the setting.
pub(crate) const RULES_NAME: &str = "rules";

/// A rule as the page writes it: a part of the configuration's format, with an expiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rule")]
pub(crate) struct WrittenRule {
    pub(crate) name: String,
    /// The agent it is for; any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The directory of the agents it is for; any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    /// `none`, `choice`, `confirm` or `pause`; any unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<String>,
    /// The whole text of the question; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) says: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) choose: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confirm: Option<bool>,
    #[serde(rename = "continue", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continues: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hold: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) in_a_row_max: Option<u32>,
    /// When it expires.
    #[schemars(with = "String")]
    pub(crate) until: Timestamp,
}

/// A rule that is stored.
#[derive(Debug, Clone)]
pub(crate) struct StoredRule {
    pub(crate) written: WrittenRule,
    pub(crate) policy: Policy,
    /// The human who made or changed it last, and when.
    pub(crate) by: Option<String>,
    pub(crate) at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Record {
    rule: WrittenRule,
    by: Option<String>,
    at: Timestamp,
}

impl WrittenRule {
    /// Returns the policy that judges questions, the same as for a rule of the configuration; or the error in it.
    pub(crate) fn policy(&self) -> Result<Policy, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

impl StoredRule {
    /// Serializes rules for the store.
    pub(crate) fn store(rules: &[Self]) -> Result<String, serde_json::Error> {
        let records: Vec<Record> = rules
            .iter()
            .map(|rule| Record {
                rule: rule.written.clone(),
                by: rule.by.clone(),
                at: rule.at,
            })
            .collect();
        serde_json::to_string(&records)
    }
}

/// Reads the stored rules. A rule that this version does not understand answers nothing.
pub(crate) fn read_rules(reader: &dyn Reader) -> Result<Vec<StoredRule>, StoreError> {
    let stored = reader.setting(RULES_NAME)?.unwrap_or_default();
    let values: Vec<serde_json::Value> = serde_json::from_str(&stored).unwrap_or_default();
    let read = values.into_iter().filter_map(|value| {
        let record: Record = serde_json::from_value(value).ok()?;
        Some(StoredRule {
            policy: record.rule.policy().ok()?,
            written: record.rule,
            by: record.by,
            at: record.at,
        })
    });
    Ok(read.collect())
}
