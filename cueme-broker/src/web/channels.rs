//! Channels that tell people elsewhere, as `cueme notify` adds, tries, lists and removes them.
//!
//! Tokens come in and never go out. A value that names a variable or a file of this machine is refused here: a page could
//! otherwise send what the file holds to an address of its own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::extract::{At, Input, Sent};
use super::state::{Shared, Web};
use crate::config::Config;
use crate::notify::{
    Channel, ConfigureError, NewChannel, Notice, People, Reasons, Sender, add_channel, remove_channel,
    set_reasons,
};
use crate::store::StoreError;

/// A channel, without anything that could be a secret.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Channel")]
pub(super) struct ChannelShown {
    name: String,
    kind: &'static str,
    /// What the people are called who may answer there.
    people: Vec<String>,
    after_ms: u64,
    /// When nothing is sent, as `22:00-07:00`.
    quiet: Option<String>,
    preview: bool,
    reasons: Reasons,
}

/// All channels of the configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Channels {
    channels: Vec<ChannelShown>,
}

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

/// What a channel speaks.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NewKind {
    Telegram,
    Slack,
    Ntfy,
    Webhook,
}

/// What can be changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelPatch {
    reasons: Reasons,
}

impl Input for ChannelPatch {}

fn shown() -> bool {
    true
}

impl ChannelShown {
    fn new(channel: &Channel) -> Self {
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

/// Lists the channels of the configuration.
pub(super) async fn list(State(web): State<Shared>) -> Json<Channels> {
    let config = web.broker.config();
    Json(Channels {
        channels: config.notify.iter().map(ChannelShown::new).collect(),
    })
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

/// Changes what a channel is about.
pub(super) async fn amend(
    State(web): State<Shared>,
    At(name): At<String>,
    Sent(body): Sent<ChannelPatch>,
) -> Result<Json<ChannelShown>, ApiError> {
    let changed = name.clone();
    configure(&web, move |places| set_reasons(places, &changed, &body.reasons)).await?;
    Ok(Json(ChannelShown::new(&find(&web, &name)?)))
}

/// Sends a test.
pub(super) async fn test(State(web): State<Shared>, At(name): At<String>) -> Result<StatusCode, ApiError> {
    let channel = find(&web, &name)?;
    let sent = Sender::default().send(&channel, &Notice::test()).await;
    sent.map_err(|error| ApiError::new(StatusCode::BAD_GATEWAY, "not_sent", error.to_string()))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a channel, and its tokens where we keep them.
pub(super) async fn remove(State(web): State<Shared>, At(name): At<String>) -> Result<StatusCode, ApiError> {
    configure(&web, move |places| remove_channel(places, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn find(web: &Web, name: &str) -> Result<Channel, ApiError> {
    let config = web.broker.config();
    let found = config.notify.iter().find(|channel| channel.name == name);
    found
        .cloned()
        .ok_or_else(|| ApiError::not_found("there is no such channel"))
}

/// Changes the configuration, and puts it in force at once.
async fn configure<T: Send + 'static>(
    web: &Web,
    change: impl FnOnce(&protocol_spec::endpoint::Places) -> Result<T, ConfigureError> + Send + 'static,
) -> Result<T, ApiError> {
    // One change at a time, so that none is lost between reading and writing.
    let _alone = web.configuring.lock().await;
    let places = web.broker.places().clone();
    let changed = tokio::task::spawn_blocking(move || {
        let changed = change(&places)?;
        let loaded = Config::load(&places.config).map_err(|error| error.to_string());
        Ok::<_, ConfigureError>((changed, loaded))
    });
    let changed = changed
        .await
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let (changed, loaded) = changed.map_err(|error| match error {
        ConfigureError::Wrong(why) => ApiError::bad_request(why),
        ConfigureError::Unknown(_) => ApiError::not_found("there is no such channel"),
        ConfigureError::Io { doing, path, source } => StoreError::Io { doing, path, source }.into(),
    })?;
    web.broker.set_config(loaded);
    Ok(changed)
}
