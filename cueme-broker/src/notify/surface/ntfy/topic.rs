//! The client of an ntfy server: publishes, deletes, and follows the reply topic.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::render::{action, question};
use crate::notify::channel::Reference;
use crate::notify::surface::card::Card;
use crate::notify::surface::inbox::{Deed, Heard, Inbox, Shown, random_key};
use crate::notify::surface::pace::Limit;
use crate::notify::surface::press::Press;
use crate::notify::surface::request::{Trouble, retry_after, send, unreachable, with_query};

/// The server sends a line at least so often; ntfy's own is 45 seconds.
const KEEPALIVE_MAX: Duration = Duration::from_secs(120);
/// The longest that one subscription lasts.
const SUBSCRIPTION_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest line of a subscription.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// A topic, and the one that its buttons publish to.
#[derive(Debug)]
pub(in crate::notify::surface) struct Topic {
    pub(in crate::notify::surface) http: Client,
    /// The address of the topic.
    pub(in crate::notify::surface) url: Reference,
    /// An access token.
    pub(in crate::notify::surface) token: Option<Reference>,
    /// The name of the reply topic, on the same server.
    pub(in crate::notify::surface) replies: String,
    /// A token that the buttons carry; all readers of the topic see it.
    pub(in crate::notify::surface) reply_token: Option<Reference>,
}

impl Topic {
    /// The name of the person who answers with a key.
    pub(in crate::notify::surface) const KEY_HOLDER: &str = "key";

    /// ntfy.sh takes 60 requests at once, and then one each five seconds.
    pub(in crate::notify::surface) const LIMIT: Limit = Limit {
        burst: 40,
        refill: Duration::from_secs(5),
    };

    /// Publishes a question.
    pub(in crate::notify::surface) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        let (server, topic) = self.place()?;
        let notification = question(card);
        let key = random_key();
        let reply_url = format!("{server}/{}", self.replies);
        let authorization = match &self.reply_token {
            Some(token) => Some(format!("Bearer {}", token.resolve()?)),
            None => None,
        };
        let actions: Vec<Value> = notification
            .buttons
            .iter()
            .map(|button| action(button, &reply_url, &key, authorization.as_deref()))
            .collect();
        let body = json!({
            "topic": topic,
            "title": notification.title,
            "message": notification.message,
            "click": card.url,
            "tags": ["raising_hand"],
            "actions": actions,
        });
        let sent = self.call(self.http.post(server).json(&body)).await?;
        let id = sent["id"]
            .as_str()
            .ok_or_else(|| Trouble::Refused("the reply has no id".to_owned()))?;
        Ok(Shown {
            message: id.to_owned(),
            whole: notification.whole,
            token: Some(key),
            ..Shown::default()
        })
    }

    /// Deletes a notification. Servers before 2.16 cannot; its buttons have no effect any more in any case.
    pub(in crate::notify::surface) async fn close(&self, shown: &Shown) -> Result<(), Trouble> {
        let (server, topic) = self.place()?;
        let request = self.http.delete(format!("{server}/{topic}/{}", shown.message));
        match self.call(request).await {
            Err(Trouble::Refused(why)) => {
                tracing::debug!(why, "a notification stays; the server cannot delete it");
                Ok(())
            }
            closed => closed.map(drop),
        }
    }

    /// Follows the reply topic from where it was left.
    pub(in crate::notify::surface) async fn listen(&self, inbox: &Inbox) -> Result<(), Trouble> {
        let since = match inbox.cursor().await {
            Some(cursor) => cursor,
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let now = now.as_secs().to_string();
                inbox.set_cursor(now.clone()).await;
                now
            }
        };
        let (server, _) = self.place()?;
        let address = format!("{server}/{}/json", self.replies);
        let request = self
            .http
            .get(with_query(&address, &[("since", &since)])?)
            .timeout(SUBSCRIPTION_MAX);
        let mut response = self.authorised(request)?.send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(Trouble::of_status(
                response.status(),
                retry_after(&response),
                "no subscription",
            ));
        }
        let mut rest = Vec::new();
        loop {
            let chunk = timeout(KEEPALIVE_MAX, response.chunk()).await;
            let chunk = chunk.map_err(|_| Trouble::later("the subscription went silent"))?;
            let Some(chunk) = chunk.map_err(unreachable)? else {
                return Ok(());
            };
            rest.extend_from_slice(&chunk);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                self.handle(inbox, &line).await;
            }
            if rest.len() > LINE_BYTES_MAX {
                return Err(Trouble::Refused(format!(
                    "a line is longer than {LINE_BYTES_MAX} bytes"
                )));
            }
        }
    }

    async fn handle(&self, inbox: &Inbox, line: &[u8]) {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let (Some("message"), Some(id)) = (line["event"].as_str(), line["id"].as_str()) else {
            return;
        };
        let text = line["message"].as_str().unwrap_or_default();
        let (key, code) = text.split_once(' ').unwrap_or((text, ""));
        let known = inbox.find(|shown| shown.token.as_deref() == Some(key)).await;
        match known.and_then(|cue| Press::decode(&format!("{cue}:{code}"))) {
            None => drop(inbox.person(&format!("message {id}"), text)),
            Some((cue, press)) => {
                if let Some(by) = inbox.person(Self::KEY_HOLDER, "") {
                    let deed = Deed {
                        by,
                        cue,
                        message: None,
                        key: id,
                        pass: None,
                    };
                    if let Heard::Not(why) = inbox.pressed(&deed, press, None).await {
                        tracing::info!(%cue, why, "a press changed nothing");
                    }
                }
            }
        }
        inbox.set_cursor(id.to_owned()).await;
    }

    async fn call(&self, request: RequestBuilder) -> Result<Value, Trouble> {
        let replied = send(self.authorised(request)?).await?;
        if replied.status.is_success() {
            return Ok(replied.body);
        }
        let said = replied.body["error"].as_str().unwrap_or("no reason");
        let status = match replied.status {
            // Says nothing of the request.
            StatusCode::REQUEST_TIMEOUT => StatusCode::SERVICE_UNAVAILABLE,
            status => status,
        };
        Err(Trouble::of_status(status, replied.retry_after, said))
    }

    fn authorised(&self, request: RequestBuilder) -> Result<RequestBuilder, Trouble> {
        Ok(match &self.token {
            Some(token) => request.bearer_auth(token.resolve()?),
            None => request,
        })
    }

    /// Returns the server and the name of the topic.
    fn place(&self) -> Result<(String, String), Trouble> {
        let url = self.url.resolve()?;
        let place = url.trim_end_matches('/').rsplit_once('/');
        let (server, topic) = place.ok_or_else(|| Trouble::Refused("the url names no topic".to_owned()))?;
        Ok((server.to_owned(), topic.to_owned()))
    }
}
