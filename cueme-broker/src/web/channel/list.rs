//! Lists the channels of the configuration.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::notify::{Channel, Reasons};
use crate::web::error::ApiError;
use crate::web::state::{Shared, Web};

/// A channel, without anything that could be a secret.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Channel")]
pub(super) struct ChannelShown {
    name: String,
    kind: &'static str,
    /// The names of the people who may answer there.
    people: Vec<String>,
    after_ms: u64,
    /// The quiet hours, as `22:00-07:00`.
    quiet: Option<String>,
    preview: bool,
    reasons: Reasons,
}

/// All channels of the configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Channels {
    channels: Vec<ChannelShown>,
}

impl ChannelShown {
    pub(super) fn new(channel: &Channel) -> Self {
        Self {
            name: channel.name.clone(),
            kind: channel.kind.word(),
            people: channel.kind.people(),
            after_ms: u64::try_from(channel.after.as_millis()).unwrap_or(u64::MAX),
            quiet: channel.quiet.map(|hours| hours.to_string()),
            preview: channel.preview,
            reasons: channel.reasons.clone(),
        }
    }
}

/// Lists the channels of the configuration.
pub(super) async fn list(State(web): State<Shared>) -> Json<Channels> {
    let config = web.broker.config();
    Json(Channels {
        channels: config.notify.iter().map(ChannelShown::new).collect(),
    })
}

pub(super) fn find(web: &Web, name: &str) -> Result<Channel, ApiError> {
    let config = web.broker.config();
    let found = config.notify.iter().find(|channel| channel.name == name);
    found
        .cloned()
        .ok_or_else(|| ApiError::not_found("there is no such channel"))
}
