//! A waiting message.

use protocol_spec::message::Purpose;
use schemars::JsonSchema;
use serde::Serialize;

use super::time::When;
use crate::store::MessageRow;

/// A message that waits for an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub(in crate::web) struct MessageShown {
    message_id: String,
    text: String,
    /// `note` or `queued_answer`.
    #[schemars(with = "String", extend("enum" = ["note", "queued_answer"]))]
    purpose: Purpose,
    by: Option<String>,
    at: When,
}

impl From<MessageRow> for MessageShown {
    fn from(message: MessageRow) -> Self {
        Self {
            message_id: message.request.to_string(),
            text: message.text,
            purpose: message.purpose,
            by: message.by,
            at: message.at.into(),
        }
    }
}
