//! The client of the Bot API.

use std::time::{Duration, SystemTime};

use protocol_spec::answer::Attachment;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::cursor::Cursor;
use super::render::{Message, closed, question};
use super::update::{Event, SentFile, Update, Words, parse_updates};
use crate::attachments::NamedFile;
use crate::notify::channel::Reference;
use crate::notify::surface::card::Card;
use crate::notify::surface::chat::{Button, Written, file_missing, file_of, place, posted, pressed, replied};
use crate::notify::surface::closing::Closing;
use crate::notify::surface::inbox::{Heard, Inbox, Shown, random_key};
use crate::notify::surface::pace::Limit;
use crate::notify::surface::request::{Trouble, base, download, send};

/// The time that the server keeps one call for updates open.
const POLL: Duration = Duration::from_secs(25);
/// The margin for the timeout of that call.
const POLL_MARGIN: Duration = Duration::from_secs(10);
/// The largest file that the Bot API gives out.
const FILE_BYTES_MAX: usize = 20 * 1024 * 1024;
/// The longest text in response to a press.
const TOAST_CHARS_MAX: usize = 200;

/// A bot in one chat.
#[derive(Debug)]
pub(in crate::notify::surface) struct Bot {
    http: Client,
    url: Reference,
    token: Reference,
    chat: String,
}

impl Bot {
    /// Telegram takes about one message a second in a chat, and short bursts.
    pub(in crate::notify::surface) const LIMIT: Limit = Limit {
        burst: 20,
        refill: Duration::from_secs(1),
    };

    pub(in crate::notify::surface) fn new(
        http: Client,
        url: Reference,
        token: Reference,
        chat: String,
    ) -> Self {
        Self {
            http,
            url,
            token,
            chat,
        }
    }

    /// Sends a question, and all of its words as a file when they do not fit.
    pub(in crate::notify::surface) async fn show(&self, card: &Card) -> Result<Shown, Trouble> {
        let message = question(card, &[]);
        let sent = self.call("sendMessage", &self.body(&message, None)).await?;
        let (Some(chat), Some(id)) = (sent["chat"]["id"].as_i64(), sent["message_id"].as_i64()) else {
            return Err(Trouble::Refused(
                "the reply has no chat and message_id".to_owned(),
            ));
        };
        if let Some((name, words)) = file_of(card, message.hidden)
            && let Err(trouble) = self.send_file(id, &name, words.as_bytes()).await
        {
            tracing::warn!(cue = %card.cue, %trouble, "the file with all of a question was not sent");
            // If this fails, too, the link in the message still leads to the whole question.
            let _ = self.say(id, &file_missing(card)).await;
        }
        let place = self.place(&chat.to_string(), id)?;
        Ok(posted(card, place, message.hidden))
    }

    /// Sends a file below a question.
    pub(in crate::notify::surface) async fn attach(
        &self,
        shown: &Shown,
        file: &NamedFile,
    ) -> Result<(), Trouble> {
        let message = message_id(shown).ok_or_else(|| Trouble::Refused("no message is named".to_owned()))?;
        self.send_file(message, &file.name, &file.bytes).await
    }

    /// Edits the message to say how the question ended.
    pub(in crate::notify::surface) async fn close(
        &self,
        card: Option<&Card>,
        shown: &Shown,
        closing: &Closing,
    ) -> Result<(), Trouble> {
        let body = self.body(&closed(card, closing), message_id(shown));
        match self.call("editMessageText", &body).await {
            Err(Trouble::Refused(why)) if why.contains("message is not modified") => Ok(()),
            edited => edited.map(drop),
        }
    }

    /// Handles updates by long polling. Each one is handled before it is confirmed to the server.
    pub(in crate::notify::surface) async fn listen(&self, inbox: &Inbox) -> Result<(), Trouble> {
        let bot = self.id()?;
        let kept = inbox.cursor().await.unwrap_or_default();
        let mut cursor = Cursor::parse(&kept, &bot);
        // The token in the file may be replaced by another bot's.
        while self.id()? == bot {
            let next = cursor.next(SystemTime::now());
            let body = json!({
                "offset": next,
                "timeout": POLL.as_secs(),
                "allowed_updates": ["message", "callback_query"],
            });
            let request = self.http.post(self.address("getUpdates")?).json(&body);
            let page = checked(request.timeout(POLL + POLL_MARGIN)).await?;
            for update in parse_updates(&page) {
                // The server repeated it.
                if update.id < cursor.next(SystemTime::now()) {
                    continue;
                }
                cursor = Cursor::after(update.id, SystemTime::now());
                self.handle(inbox, update).await;
            }
            if cursor.next(SystemTime::now()) != next {
                inbox.set_cursor(cursor.encode(&bot)).await;
            }
        }
        Ok(())
    }

    async fn handle(&self, inbox: &Inbox, update: Update) {
        let key = update.id.to_string();
        let handled = match update.event {
            None => return,
            Some(Event::Pressed {
                origin,
                message,
                callback,
                data,
            }) => match self.place(&origin.place, message) {
                Ok(message) => {
                    let button = Button {
                        author: &origin,
                        message: &message,
                        data: &data,
                        key: &key,
                    };
                    self.handle_press(inbox, &button, &callback).await
                }
                Err(trouble) => Err(trouble),
            },
            Some(Event::Wrote(words)) => {
                let message = words.message;
                let said = self.handle_words(inbox, words, &key).await;
                match said {
                    Some(said) => self.say(message, &said).await,
                    None => Ok(()),
                }
            }
        };
        if let Err(trouble) = handled {
            tracing::debug!(%trouble, "a person in a chat was not told");
        }
    }

    async fn handle_press(&self, inbox: &Inbox, button: &Button<'_>, callback: &str) -> Result<(), Trouble> {
        match pressed(inbox, button, None).await {
            // Acknowledged, because the button would show a spinner for a minute otherwise.
            None => self.toast(callback, "You cannot answer here.").await,
            Some(Heard::Decided | Heard::Refused) => self.toast(callback, "Sent.").await,
            Some(Heard::Not(why)) => self.toast(callback, &why).await,
            Some(Heard::Marked(card, shown)) => {
                let marked = self.show_marks(&card, &shown).await;
                self.toast(callback, "").await.and(marked)
            }
            Some(Heard::NotSeen(card, shown)) => {
                // Refused when the marks are the same already; then the message is up to date.
                let _ = self.show_marks(&card, &shown).await;
                let said = "The marks have changed meanwhile. Look at them, and press Send again.";
                self.toast(callback, said).await
            }
        }
    }

    async fn show_marks(&self, card: &Card, shown: &Shown) -> Result<(), Trouble> {
        let body = json!({
            "chat_id": self.chat,
            "message_id": message_id(shown),
            "reply_markup": question(card, &shown.marked).keyboard,
        });
        self.call("editMessageReplyMarkup", &body).await.map(drop)
    }

    /// Handles words; returns the response, unless they decided the question.
    async fn handle_words(&self, inbox: &Inbox, words: Words, key: &str) -> Option<String> {
        let from = &words.origin;
        let message = words.reply_to.and_then(|id| self.place(&from.place, id).ok());
        let cue = match &message {
            Some(message) => inbox.find(|shown| shown.message == *message).await,
            None => None,
        };
        let Some((cue, message)) = cue.zip(message) else {
            // Messages among the people of a group, and those of strangers to a bot, are ignored.
            let is_meant = words.is_for_bot && inbox.knows(&from.user);
            return is_meant.then(|| "Reply to the message of an open question to answer it.".to_owned());
        };
        let written = Written {
            author: from,
            cue,
            message: &message,
            key,
            text: &words.text,
        };
        replied(inbox, &written, self.fetch_all(inbox, words.file.as_ref())).await
    }

    async fn fetch_all(&self, inbox: &Inbox, file: Option<&SentFile>) -> Result<Vec<Attachment>, String> {
        let Some(file) = file else {
            return Ok(Vec::new());
        };
        let bytes = self.download(&file.id).await;
        let bytes = bytes.map_err(|trouble| trouble.to_string())?;
        Ok(vec![inbox.keep_file(&file.name, &bytes).await?])
    }

    async fn download(&self, file: &str) -> Result<Vec<u8>, Trouble> {
        let found = self.call("getFile", &json!({ "file_id": file })).await?;
        let path = found["file_path"].as_str().unwrap_or_default();
        if path.is_empty() || path.contains("..") || path.contains(['?', '#', '\\']) {
            return Err(Trouble::Refused("the reply has no usable file_path".to_owned()));
        }
        let address = format!("{}/file/bot{}/{path}", base(&self.url)?, self.token.resolve()?);
        download(self.http.get(address), FILE_BYTES_MAX).await
    }

    async fn send_file(&self, reply_to: i64, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let boundary = random_key();
        let reply = json!({ "message_id": reply_to }).to_string();
        // A quote would end the name, and a line break the header.
        let name = name.replace(['"', '\\', '\r', '\n'], "_");
        let head = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"chat_id\"\r\n\r\n{}\r\n\
             --{boundary}\r\ncontent-disposition: form-data; name=\"reply_parameters\"\r\n\r\n{reply}\r\n\
             --{boundary}\r\ncontent-disposition: form-data; name=\"document\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n",
            self.chat
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let body = [head.as_bytes(), bytes, tail.as_bytes()].concat();
        let request = self.http.post(self.address("sendDocument")?);
        let kind = format!("multipart/form-data; boundary={boundary}");
        checked(request.header("content-type", kind).body(body))
            .await
            .map(drop)
    }

    async fn say(&self, reply_to: i64, text: &str) -> Result<(), Trouble> {
        let body = json!({
            "chat_id": self.chat,
            "text": text,
            "reply_parameters": { "message_id": reply_to, "allow_sending_without_reply": true },
            "link_preview_options": { "is_disabled": true },
        });
        self.call("sendMessage", &body).await.map(drop)
    }

    async fn toast(&self, callback: &str, text: &str) -> Result<(), Trouble> {
        let text: String = text.chars().take(TOAST_CHARS_MAX).collect();
        let body = json!({ "callback_query_id": callback, "text": text });
        self.call("answerCallbackQuery", &body).await.map(drop)
    }

    fn body(&self, message: &Message, edited: Option<i64>) -> Value {
        let mut body = json!({
            "chat_id": self.chat,
            "text": message.text,
            "entities": message.entities,
            "reply_markup": message.keyboard,
            "link_preview_options": { "is_disabled": true },
        });
        if let Some(edited) = edited {
            body["message_id"] = json!(edited);
        }
        body
    }

    /// Names a message. Each bot counts those of a private chat by itself.
    fn place(&self, chat: &str, message: i64) -> Result<String, Trouble> {
        Ok(place(&format!("{} {chat}", self.id()?), &message.to_string()))
    }

    /// Returns the id of the bot, with which its token begins.
    fn id(&self) -> Result<String, Trouble> {
        let token = self.token.resolve()?;
        Ok(token.split(':').next().unwrap_or_default().to_owned())
    }

    async fn call(&self, method: &str, body: &Value) -> Result<Value, Trouble> {
        checked(self.http.post(self.address(method)?).json(body)).await
    }

    fn address(&self, method: &str) -> Result<String, Trouble> {
        Ok(format!(
            "{}/bot{}/{method}",
            base(&self.url)?,
            self.token.resolve()?
        ))
    }
}

fn message_id(shown: &Shown) -> Option<i64> {
    shown.message.rsplit_once(' ')?.1.parse().ok()
}

/// Sends a call and returns its `result`.
async fn checked(request: RequestBuilder) -> Result<Value, Trouble> {
    let mut replied = send(request).await?;
    if replied.status.is_success() && replied.body["ok"] == true {
        return Ok(replied.body["result"].take());
    }
    let said = replied.body["description"]
        .as_str()
        .unwrap_or("no reason")
        .to_owned();
    let asked = replied.body["parameters"]["retry_after"]
        .as_u64()
        .map(Duration::from_secs);
    // A proxy in front may respond with 200 and no response of the API.
    let status = if replied.status.is_success() {
        StatusCode::BAD_GATEWAY
    } else {
        replied.status
    };
    Err(Trouble::of_status(status, asked.or(replied.retry_after), &said))
}
