//! Adds a channel.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::configure::configure;
use super::list::{ChannelShown, find};
use crate::notify::{NewChannel, People, Reasons, add_channel};
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// A channel to be added, with the keys of its section in the configuration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelBody {
    kind: NewKind,
    name: Option<String>,
    url: Option<String>,
    chat: Option<String>,
    channel: Option<String>,
    replies: Option<String>,
    person: Option<String>,
    after: Option<String>,
    quiet: Option<String>,
    #[serde(default)]
    people: People,
    #[serde(default = "shown")]
    preview: bool,
    reasons: Option<Reasons>,
    /// Kept in a file, and never shown again.
    token: Option<String>,
    /// Kept in a file, and never shown again.
    app_token: Option<String>,
}

impl Input for ChannelBody {
    const BYTES_MAX: usize = 64 * 1024;
}

/// The kinds of channels that can be added.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NewKind {
    Telegram,
    Slack,
    Ntfy,
    Webhook,
}

fn shown() -> bool {
    true
}

impl ChannelBody {
    fn check(self) -> Result<NewChannel, ApiError> {
        let texts = [
            ("url", self.url),
            ("chat", self.chat),
            ("channel", self.channel),
            ("replies", self.replies),
            ("person", self.person),
            ("after", self.after),
            ("quiet", self.quiet),
        ];
        let texts: Vec<_> = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key, text?)))
            .collect();
        let url = texts.iter().find(|(key, _)| *key == "url");
        if url.is_some_and(|(_, url)| !url.starts_with("https://") && !url.starts_with("http://")) {
            return Err(ApiError::bad_request("url is no address"));
        }
        let secrets = [("token", self.token), ("app_token", self.app_token)];
        let secrets = secrets.into_iter();
        Ok(NewChannel {
            kind: match self.kind {
                NewKind::Telegram => "telegram",
                NewKind::Slack => "slack",
                NewKind::Ntfy => "ntfy",
                NewKind::Webhook => "webhook",
            }
            .to_owned(),
            name: self.name,
            texts,
            people: self.people,
            preview: self.preview,
            reasons: self.reasons,
            secrets: secrets.filter_map(|(key, secret)| Some((key, secret?))).collect(),
        })
    }
}

/// Adds a channel.
pub(super) async fn add(
    State(web): State<Shared>,
    Sent(body): Sent<ChannelBody>,
) -> Result<(StatusCode, Json<ChannelShown>), ApiError> {
    let channel = body.check()?;
    let name = configure(&web, move |places| add_channel(places, &channel)).await?;
    Ok((StatusCode::CREATED, Json(ChannelShown::new(&find(&web, &name)?))))
}
