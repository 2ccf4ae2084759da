//! Sends notifications to each kind of channel.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, RequestBuilder};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::OnceCell;

use super::channel::{Channel, ChannelKind, MissingSecret, Reference};
use super::desktop;
use super::escape::for_slack;
use super::notice::Notice;

/// The timeout of one attempt.
const PATIENCE: Duration = Duration::from_secs(10);
/// The delays before further attempts.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// The reason why a notification could not be sent.
#[derive(Debug, Error)]
pub enum SendError {
    /// The configuration refers to a missing secret.
    #[error(transparent)]
    NotSet(#[from] MissingSecret),
    /// The server refused, or did not respond.
    #[error("{0}")]
    Failed(String),
}

/// Sends notifications.
#[derive(Debug, Default)]
pub struct Sender {
    /// Built on first use.
    client: OnceCell<Client>,
}

impl Sender {
    /// Returns the client. Building one reads every certificate that the system trusts, so it is built only when
    /// needed, and without blocking other tasks.
    pub(super) async fn client(&self) -> Result<&Client, SendError> {
        let built = self.client.get_or_try_init(|| async {
            let built = tokio::task::spawn_blocking(build_client).await;
            built.map_err(|error| SendError::Failed(error.to_string()))?
        });
        built.await
    }

    /// Sends a question; returns the channel's id of the message, if it can be withdrawn.
    pub async fn send(&self, channel: &Channel, notice: &Notice) -> Result<Option<String>, SendError> {
        let reply = match &channel.kind {
            ChannelKind::Desktop => return desktop::show(notice).await,
            ChannelKind::Webhook { url, token } => {
                let body = json!({ "event": "waiting", "cue": notice });
                self.post(url, token.as_ref(), &body).await?;
                return Ok(Some(notice.cue_id.clone()));
            }
            ChannelKind::Ntfy { url, token, .. } => {
                let (server, topic) = split_topic(&resolve(url)?)?;
                let body = json!({
                    "topic": topic,
                    "title": notice.title(),
                    "message": notice.body(),
                    "click": notice.url,
                    "tags": ["raising_hand"],
                });
                self.post(&Reference::new(server), token.as_ref(), &body).await?
            }
            ChannelKind::Slack { url } => {
                self.post(url, None, &slack_body(notice)).await?;
                return Ok(None);
            }
            ChannelKind::SlackApp {
                url, token, channel, ..
            } => {
                let mut body = slack_body(notice);
                body["channel"] = json!(channel);
                let address = format!("{}/chat.postMessage", resolve(url)?.trim_end_matches('/'));
                let reply = self.post(&Reference::new(address), Some(token), &body).await?;
                if reply["ok"] != true {
                    let why = reply["error"].as_str().unwrap_or("no reason");
                    return Err(SendError::Failed(format!("Slack said {why}")));
                }
                return Ok(None);
            }
            ChannelKind::Push(_) => return Err(pushed_by_broker()),
            ChannelKind::Telegram { url, token, chat, .. } => {
                let body =
                    json!({ "chat_id": chat, "text": notice.text(), "disable_web_page_preview": true });
                self.post(&telegram(url, token, "sendMessage")?, None, &body)
                    .await?
            }
        };
        Ok(reference_in(&reply))
    }

    /// Withdraws a message, if the channel can.
    pub async fn take_back(
        &self,
        channel: &Channel,
        reference: &str,
        outcome: &str,
    ) -> Result<(), SendError> {
        match &channel.kind {
            ChannelKind::Desktop => desktop::take_back(reference).await,
            ChannelKind::Webhook { url, token } => {
                let body = json!({ "event": "over", "cue": { "cue_id": reference }, "outcome": outcome });
                self.post(url, token.as_ref(), &body).await.map(drop)
            }
            ChannelKind::Ntfy { url, token, .. } => {
                let address = format!("{}/{reference}", resolve(url)?.trim_end_matches('/'));
                let request = authorised(self.client().await?.delete(address), token.as_ref())?;
                deliver(request).await.map(drop)
            }
            ChannelKind::Slack { .. } | ChannelKind::SlackApp { .. } => Ok(()),
            ChannelKind::Push(_) => Err(pushed_by_broker()),
            ChannelKind::Telegram { url, token, chat, .. } => {
                let message: i64 = reference
                    .parse()
                    .map_err(|_| SendError::Failed("no message id".to_owned()))?;
                let body = json!({ "chat_id": chat, "message_id": message });
                self.post(&telegram(url, token, "deleteMessage")?, None, &body)
                    .await
                    .map(drop)
            }
        }
    }

    async fn post(
        &self,
        url: &Reference,
        token: Option<&Reference>,
        body: &Value,
    ) -> Result<Value, SendError> {
        let request = authorised(self.client().await?.post(resolve(url)?), token)?;
        deliver(request.json(body)).await
    }
}

/// Sends a request, and retries it when that may help.
async fn deliver(request: RequestBuilder) -> Result<Value, SendError> {
    let mut retries = RETRIES.iter();
    loop {
        let Some(attempt) = request.try_clone() else {
            return Err(SendError::Failed("the request cannot be repeated".to_owned()));
        };
        let (why, may_help) = match attempt.send().await {
            // Addresses may hold secrets; they are left out of error messages.
            Err(error) => (error.without_url().to_string(), true),
            Ok(response) if response.status().is_success() => {
                return Ok(response.json().await.unwrap_or(Value::Null));
            }
            Ok(response) => {
                let status = response.status();
                (
                    format!("the server said {status}"),
                    status.is_server_error() || status.as_u16() == 429,
                )
            }
        };
        match retries.next().filter(|_| may_help) {
            Some(pause) => tokio::time::sleep(*pause).await,
            None => return Err(SendError::Failed(why)),
        }
    }
}

fn pushed_by_broker() -> SendError {
    SendError::Failed("the broker alone pushes to devices".to_owned())
}

fn build_client() -> Result<Client, SendError> {
    client_builder()
        .build()
        .map_err(|error| SendError::Failed(error.to_string()))
}

/// Returns the settings of every notification client.
pub(super) fn client_builder() -> ClientBuilder {
    // Fails only where the same provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("cueme/", env!("CARGO_PKG_VERSION")))
}

fn authorised(request: RequestBuilder, token: Option<&Reference>) -> Result<RequestBuilder, SendError> {
    Ok(match token {
        Some(token) => request.bearer_auth(resolve(token)?),
        None => request,
    })
}

fn telegram(url: &Reference, token: &Reference, method: &str) -> Result<Reference, SendError> {
    let base = resolve(url)?;
    Ok(Reference::new(format!(
        "{}/bot{}/{method}",
        base.trim_end_matches('/'),
        resolve(token)?
    )))
}

fn resolve(reference: &Reference) -> Result<String, SendError> {
    Ok(reference.resolve()?)
}

/// Writes a notice for Slack: the agent's words literally, and one link, ours.
fn slack_body(notice: &Notice) -> Value {
    let mut text = for_slack(&format!("{}\n{}", notice.title(), notice.body()));
    if let Some(url) = &notice.url {
        text.push_str(&format!("\n<{}>", for_slack(url)));
    }
    json!({
        "text": text,
        // No formatting, and nothing in the text becomes a link or a mention by itself.
        "mrkdwn": false,
        "parse": "none",
        "link_names": false,
        "unfurl_links": false,
        "unfurl_media": false,
    })
}

fn split_topic(url: &str) -> Result<(String, String), SendError> {
    let (server, topic) = url
        .trim_end_matches('/')
        .rsplit_once('/')
        .ok_or_else(|| SendError::Failed("the url names no topic".to_owned()))?;
    Ok((format!("{server}/"), topic.to_owned()))
}

/// Finds what ntfy calls `id` and Telegram `result.message_id`.
fn reference_in(reply: &Value) -> Option<String> {
    let id = reply.get("id").or_else(|| reply.pointer("/result/message_id"))?;
    match id {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
