//! The client of Slack's Web API and of Socket Mode.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use protocol_spec::answer::Attachment;
use reqwest::{Client, Url};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::envelope::{Envelope, Event, SentFile, parse_envelope};
use super::render::{Message, closed, question};
use crate::attachments::NamedFile;
use crate::notify::channel::Reference;
use crate::notify::escape::for_slack;
use crate::notify::surface::card::Card;
use crate::notify::surface::chat::{Button, Written, file_missing, file_of, place, posted, pressed, replied};
use crate::notify::surface::closing::Closing;
use crate::notify::surface::inbox::{Author, Heard, Inbox, Shown};
use crate::notify::surface::pace::Limit;
use crate::notify::surface::request::{Trouble, base, download, send, unreachable, with_query};

/// The server sends something at least so often.
const SILENCE_MAX: Duration = Duration::from_secs(90);
/// The timeout for connecting.
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// The largest frame.
const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// The largest file that is accepted.
const FILE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Slack gives an acknowledgement three seconds.
const ACKNOWLEDGE_WITHIN: Duration = Duration::from_millis(1500);
/// The number of handled envelopes that are remembered.
const ENVELOPES_KEPT: usize = 1000;

/// An app in one channel.
#[derive(Debug)]
pub(in crate::notify::surface) struct App {
    pub(in crate::notify::surface) http: Client,
    /// The address of the Web API.
    pub(in crate::notify::surface) url: Reference,
    /// The bot's token.
    pub(in crate::notify::surface) token: Reference,
    /// The app's token, which opens connections.
    pub(in crate::notify::surface) app_token: Reference,
    /// The channel to write to.
    pub(in crate::notify::surface) channel: String,
}

impl App {
    /// Slack takes one message a second in a channel, and short bursts.
    pub(in crate::notify::surface) const LIMIT: Limit = Limit {
        burst: 20,
        refill: Duration::from_secs(1),
    };

    /// Posts a question, and all of its words as a file in the thread when they do not fit.
    pub(in crate::notify::surface) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        let message = question(card);
        let body = json!({
            "channel": self.channel,
            "text": message.text,
            "blocks": message.blocks,
            "unfurl_links": false,
            "unfurl_media": false,
        });
        let sent = self.call("chat.postMessage", &body).await?;
        let (Some(channel), Some(ts)) = (sent["channel"].as_str(), sent["ts"].as_str()) else {
            return Err(Trouble::Refused("the reply has no channel and ts".to_owned()));
        };
        if let Some((name, words)) = file_of(card, message.hidden)
            && let Err(trouble) = self.send_file(channel, ts, &name, words.as_bytes()).await
        {
            tracing::warn!(cue = %card.cue, %trouble, "the file with all of a question was not sent");
            // If this fails, too, the link in the message still leads to the whole question.
            let text = for_slack(&file_missing(card));
            let said = json!({ "channel": channel, "thread_ts": ts, "text": text });
            let _ = self.call("chat.postMessage", &said).await;
        }
        Ok(posted(card, place(channel, ts), message.hidden))
    }

    /// Sends a file into the thread of a question.
    pub(in crate::notify::surface) async fn attach(
        &self,
        shown: &Shown,
        file: &NamedFile,
    ) -> Result<(), Trouble> {
        let (channel, ts) = shown.message.split_once(' ').unwrap_or_default();
        self.send_file(channel, ts, &file.name, &file.bytes).await
    }

    /// Edits the message to say how the question ended.
    pub(in crate::notify::surface) async fn close(
        &self,
        card: Option<&Card>,
        shown: &Shown,
        closing: &Closing,
    ) -> Result<(), Trouble> {
        let (channel, ts) = shown.message.split_once(' ').unwrap_or_default();
        let Message { text, blocks, .. } = closed(card, closing);
        let body = json!({ "channel": channel, "ts": ts, "text": text, "blocks": blocks });
        self.call("chat.update", &body).await.map(drop)
    }

    /// Opens a connection and handles envelopes until the server closes it.
    pub(in crate::notify::surface) async fn listen(&self, inbox: &Inbox) -> Result<(), Trouble> {
        let opened = self
            .call_as(&self.app_token, "apps.connections.open", &json!({}))
            .await?;
        let address = opened["url"].as_str().unwrap_or_default();
        let config = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let connecting = connect_async_with_config(address, Some(config), true);
        let connected = timeout(CONNECT_MAX, connecting).await;
        let connected = connected.map_err(|_| Trouble::later("the connection took too long"))?;
        // The address holds a ticket, so it is left out of error messages.
        let (mut socket, _) = connected.map_err(|_| Trouble::later("the connection was refused"))?;
        let mut handled = VecDeque::new();
        loop {
            let frame = timeout(SILENCE_MAX, socket.next()).await;
            let frame = frame.map_err(|_| Trouble::later("the connection went silent"))?;
            let text = match frame {
                None | Some(Ok(Frame::Close(_))) => return Ok(()),
                Some(Err(error)) => return Err(Trouble::later(error.to_string())),
                Some(Ok(Frame::Text(text))) => text,
                Some(Ok(_)) => continue,
            };
            match parse_envelope(&text) {
                Envelope::Nothing => {}
                Envelope::Disconnect => return Ok(()),
                Envelope::Event { id, event } => {
                    let event = event.filter(|_| !handled.contains(&id));
                    let handling = self.handle(inbox, event);
                    tokio::pin!(handling);
                    // Decided first, so that a crash loses nothing, but acknowledged in time: a file may take longer.
                    let is_done = timeout(ACKNOWLEDGE_WITHIN, &mut handling).await.is_ok();
                    let acknowledgement = json!({ "envelope_id": id }).to_string();
                    let acknowledged = socket.send(Frame::text(acknowledgement)).await;
                    acknowledged.map_err(|error| Trouble::later(error.to_string()))?;
                    if !is_done {
                        handling.await;
                    }
                    handled.push_back(id);
                    if handled.len() > ENVELOPES_KEPT {
                        handled.pop_front();
                    }
                }
            }
        }
    }

    async fn handle(&self, inbox: &Inbox, event: Option<Event>) {
        if let Some(event) = event
            && let Err(trouble) = self.handle_event(inbox, event).await
        {
            tracing::debug!(%trouble, "a person in a channel was not told");
        }
    }

    async fn handle_event(&self, inbox: &Inbox, event: Event) -> Result<(), Trouble> {
        match event {
            Event::Pressed {
                origin,
                message,
                data,
                marked,
                key,
            } => {
                let button = Button {
                    author: &origin,
                    message: &place(&origin.place, &message),
                    data: &data,
                    key: &key,
                };
                match pressed(inbox, &button, Some(marked)).await {
                    Some(Heard::Not(why)) => self.whisper(&origin, &why).await,
                    _ => Ok(()),
                }
            }
            Event::Replied {
                origin,
                thread,
                text,
                files,
                key,
            } => {
                let message = place(&origin.place, &thread);
                // Replies in other threads are ignored.
                let Some(cue) = inbox.find(|shown| shown.message == message).await else {
                    return Ok(());
                };
                let written = Written {
                    author: &origin,
                    cue,
                    message: &message,
                    key: &key,
                    text: &text,
                };
                match replied(inbox, &written, self.fetch_all(inbox, &files)).await {
                    Some(said) => self.whisper(&origin, &said).await,
                    None => Ok(()),
                }
            }
        }
    }

    async fn fetch_all(&self, inbox: &Inbox, files: &[SentFile]) -> Result<Vec<Attachment>, String> {
        let mut attachments = Vec::with_capacity(files.len());
        for file in files {
            let bytes = self
                .download(&file.url)
                .await
                .map_err(|trouble| trouble.to_string())?;
            attachments.push(inbox.keep_file(&file.name, &bytes).await?);
        }
        Ok(attachments)
    }

    async fn download(&self, address: &str) -> Result<Vec<u8>, Trouble> {
        let is_slacks = Url::parse(address)
            .ok()
            .zip(Url::parse(&self.url.resolve()?).ok());
        // The token is sent to Slack alone.
        let is_slacks = is_slacks.is_some_and(|(file, api)| {
            let host = file.host_str().unwrap_or_default();
            (file.scheme() == "https" && host.ends_with(".slack.com")) || file.origin() == api.origin()
        });
        if !is_slacks {
            return Err(Trouble::Refused("the file is not kept by Slack".to_owned()));
        }
        let request = self.http.get(address).bearer_auth(self.token.resolve()?);
        download(request, FILE_BYTES_MAX).await
    }

    async fn send_file(&self, channel: &str, ts: &str, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let length = bytes.len().to_string();
        let query = [("filename", name), ("length", length.as_str())];
        let address = format!("{}/files.getUploadURLExternal", base(&self.url)?);
        let request = self
            .http
            .get(with_query(&address, &query)?)
            .bearer_auth(self.token.resolve()?);
        let place = checked(send(request).await?)?;
        let upload = place["upload_url"].as_str().unwrap_or_default();
        let sent = self
            .http
            .post(upload)
            .body(bytes.to_owned())
            .send()
            .await
            .map_err(unreachable)?;
        if !sent.status().is_success() {
            return Err(Trouble::of_status(sent.status(), None, "no upload"));
        }
        let body = json!({ "files": [{ "id": place["file_id"], "title": name }], "channel_id": channel, "thread_ts": ts });
        self.call("files.completeUploadExternal", &body).await.map(drop)
    }

    /// Sends a message that only one person sees.
    async fn whisper(&self, origin: &Author, text: &str) -> Result<(), Trouble> {
        let text = for_slack(text);
        let body = json!({ "channel": origin.place, "user": origin.user, "text": text });
        self.call("chat.postEphemeral", &body).await.map(drop)
    }

    async fn call(&self, method: &str, body: &Value) -> Result<Value, Trouble> {
        self.call_as(&self.token, method, body).await
    }

    async fn call_as(&self, token: &Reference, method: &str, body: &Value) -> Result<Value, Trouble> {
        let request = self.http.post(format!("{}/{method}", base(&self.url)?));
        checked(send(request.bearer_auth(token.resolve()?).json(body)).await?)
    }
}

/// Returns the result of a call; Slack reports most errors with status 200.
fn checked(replied: crate::notify::surface::request::Replied) -> Result<Value, Trouble> {
    if replied.status.is_success() && replied.body["ok"] == true {
        return Ok(replied.body);
    }
    let said = replied.body["error"].as_str().unwrap_or("no reason").to_owned();
    if !replied.status.is_success() {
        return Err(Trouble::of_status(replied.status, replied.retry_after, &said));
    }
    match said.as_str() {
        "ratelimited"
        | "internal_error"
        | "fatal_error"
        | "service_unavailable"
        | "request_timeout"
        | "no reason" => Err(Trouble::Later {
            why: format!("Slack said {said}"),
            retry_after: replied.retry_after,
        }),
        _ => Err(Trouble::Refused(format!("Slack said {said}"))),
    }
}
