//! A stored draft.

use schemars::JsonSchema;
use serde::Serialize;

use super::time::When;
use crate::store::Draft;

/// A draft.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Draft")]
pub(in crate::web) struct DraftShown {
    rev: i64,
    body: serde_json::Value,
    by: Option<String>,
    at: When,
}

impl From<Draft> for DraftShown {
    fn from(draft: Draft) -> Self {
        Self {
            rev: draft.rev,
            // The stored draft is JSON; if it were not, the page would start with an empty one.
            body: serde_json::from_str(&draft.body).unwrap_or_default(),
            by: draft.by,
            at: draft.at.into(),
        }
    }
}
