//! Telegram's Bot API, as far as a bot in one chat needs it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::faults::Faults;
use super::server::Server;
use crate::eventually;

/// The tokens of two bots.
const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const OTHER_TOKEN: &str = "220201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
/// The chat.
const CHAT: i64 = 4200;
/// Limits of the API.
const TEXT_UNITS_MAX: usize = 4096;
const CALLBACK_BYTES_MAX: usize = 64;

/// Somebody in the chat.
#[derive(Debug, Clone, Copy)]
pub struct Person {
    /// The id that Telegram gives them.
    pub id: i64,
    /// Their user name.
    pub name: &'static str,
}

/// A message of the bot, as it is seen in the chat now.
#[derive(Debug, Clone, Default)]
pub struct TelegramMessage {
    /// Its id.
    pub id: i64,
    /// Its words.
    pub text: String,
    /// Its entities.
    pub entities: Value,
    /// Its buttons: label, and what they carry.
    pub buttons: Vec<(String, String)>,
    /// The message that it replies to.
    pub reply_to: Option<i64>,
    /// The file that came with it: name and content.
    pub file: Option<(String, String)>,
    /// The number of edits.
    pub edits: u32,
}

/// The service.
#[derive(Debug)]
pub struct Telegram {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    token: &'static str,
    state: Mutex<Chat>,
    news: Notify,
    faults: Faults,
    /// Every page of updates begins with those that were confirmed before.
    repeats: AtomicBool,
    polls: AtomicUsize,
}

#[derive(Debug, Default)]
struct Chat {
    messages: BTreeMap<i64, TelegramMessage>,
    updates: Vec<(i64, Value)>,
    confirmed: i64,
    last_id: i64,
    toasts: HashMap<String, String>,
    files: HashMap<String, Vec<u8>>,
}

impl Chat {
    fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }
}

impl Default for Telegram {
    fn default() -> Self {
        Self::start()
    }
}

impl Telegram {
    /// Starts it.
    pub fn start() -> Self {
        Self::start_with(TOKEN)
    }

    /// Starts it with another bot, whose numbers begin anew.
    pub fn start_other() -> Self {
        Self::start_with(OTHER_TOKEN)
    }

    fn start_with(token: &'static str) -> Self {
        let shared = Arc::new(Shared {
            token,
            state: Mutex::default(),
            news: Notify::default(),
            faults: Faults::default(),
            repeats: AtomicBool::default(),
            polls: AtomicUsize::default(),
        });
        let routes = Router::new()
            .route("/{bot}/{method}", post(call))
            .route("/file/{bot}/{*path}", get(give_file))
            .with_state(Arc::clone(&shared));
        Self {
            server: Server::start(routes),
            shared,
        }
    }

    /// Returns the section of the configuration that uses it; the token is in this file.
    pub fn section(&self, token_file: &str, people: &str) -> String {
        format!(
            "[[notify]]\nkind = \"telegram\"\nurl = \"{}\"\ntoken = \"file:{token_file}\"\nchat = \"{CHAT}\"\nafter = \"0\"\npeople = {people}\n",
            self.server.url()
        )
    }

    /// Returns where it is.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Returns the bot's token.
    pub fn token(&self) -> &'static str {
        self.shared.token
    }

    /// Returns where failures are prepared.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// From now on every page repeats updates that were confirmed, the newest first.
    pub fn repeat_and_reorder(&self) {
        self.shared.repeats.store(true, Ordering::Relaxed);
    }

    /// Returns every message of the bot.
    pub fn messages(&self) -> Vec<TelegramMessage> {
        self.chat().messages.values().cloned().collect()
    }

    /// Waits for a message with these words.
    #[track_caller]
    pub fn wait_for(&self, words: &str) -> TelegramMessage {
        eventually(&format!("a message with {words:?}"), || {
            self.messages()
                .into_iter()
                .find(|message| message.text.contains(words))
        })
    }

    /// Somebody presses the button whose label contains this; returns the id of the press.
    #[track_caller]
    pub fn press(&self, person: Person, message: i64, label: &str) -> String {
        let mut chat = self.chat();
        let found = chat.messages.get(&message).and_then(|message| {
            let button = message.buttons.iter().find(|(text, _)| text.contains(label));
            button.map(|(_, data)| data.clone())
        });
        let data = found.unwrap_or_else(|| panic!("no button {label:?} in message {message}"));
        add_press(&mut chat, &self.shared, person, message, &data)
    }

    /// Somebody presses a button that is not there any more, as a slow client does.
    pub fn press_data(&self, person: Person, message: i64, data: &str) -> String {
        add_press(&mut self.chat(), &self.shared, person, message, data)
    }

    /// Waits for what a press was answered with.
    #[track_caller]
    pub fn toast(&self, press: &str) -> String {
        eventually("an answer to a press", || self.chat().toasts.get(press).cloned())
    }

    /// Somebody replies with words.
    pub fn reply(&self, person: Person, message: Option<i64>, text: &str) {
        self.write(person, message, json!({ "text": text }));
    }

    /// Somebody replies with a file.
    pub fn reply_with_file(&self, person: Person, message: i64, name: &str, bytes: &[u8], caption: &str) {
        let id = format!("file-{}", bytes.len());
        self.chat().files.insert(id.clone(), bytes.to_vec());
        let document = json!({ "file_id": id, "file_name": name, "file_size": bytes.len() });
        self.write(
            person,
            Some(message),
            json!({ "document": document, "caption": caption }),
        );
    }

    /// The next message gets this number: private chats are counted for each bot by itself.
    pub fn skip_to_message(&self, id: i64) {
        self.chat().last_id = id - 1;
    }

    /// Waits until every update so far is confirmed.
    #[track_caller]
    pub fn wait_until_heard(&self) {
        eventually("every update is confirmed", || {
            let chat = self.chat();
            chat.updates
                .iter()
                .all(|(id, _)| *id < chat.confirmed)
                .then_some(())
        });
    }

    /// Returns how often updates were asked for.
    pub fn polls(&self) -> usize {
        self.shared.polls.load(Ordering::Relaxed)
    }

    fn write(&self, person: Person, reply_to: Option<i64>, mut message: Value) {
        let mut chat = self.chat();
        message["message_id"] = json!(chat.next_id());
        message["from"] = from(person);
        message["chat"] = json!({ "id": CHAT, "type": "group" });
        if let Some(reply_to) = reply_to {
            message["reply_to_message"] = json!({ "message_id": reply_to, "chat": { "id": CHAT }, "from": { "id": 110_201_543, "is_bot": true } });
        }
        add_update(&mut chat, &self.shared, "message", message);
    }

    fn chat(&self) -> MutexGuard<'_, Chat> {
        lock(&self.shared)
    }
}

fn add_press(chat: &mut Chat, shared: &Shared, person: Person, message: i64, data: &str) -> String {
    let id = format!("press-{}", chat.next_id());
    let query = json!({
        "id": id,
        "from": from(person),
        "message": { "message_id": message, "chat": { "id": CHAT } },
        "data": data,
    });
    add_update(chat, shared, "callback_query", query);
    id
}

fn add_update(chat: &mut Chat, shared: &Shared, kind: &str, content: Value) {
    let id = chat.next_id();
    let mut update = json!({ "update_id": id });
    update[kind] = content;
    chat.updates.push((id, update));
    shared.news.notify_waiters();
}

fn from(person: Person) -> Value {
    json!({ "id": person.id, "is_bot": false, "first_name": person.name, "username": person.name })
}

fn lock(shared: &Shared) -> MutexGuard<'_, Chat> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    if bot != format!("bot{}", shared.token) {
        return refuse(401, "Unauthorized");
    }
    if let Some(fault) = shared.faults.next(&method) {
        return fault.into_response();
    }
    if method == "sendDocument" {
        return send_document(&shared, &String::from_utf8_lossy(&body));
    }
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return refuse(400, "Bad Request: can't parse JSON");
    };
    match method.as_str() {
        "getUpdates" => updates(&shared, &body).await,
        "sendMessage" => send_message(&shared, &body),
        "editMessageText" | "editMessageReplyMarkup" => edit(&shared, &body),
        "answerCallbackQuery" => {
            let text = body["text"].as_str().unwrap_or_default();
            if text.chars().count() > 200 {
                return refuse(400, "Bad Request: MESSAGE_TOO_LONG");
            }
            let id = body["callback_query_id"].as_str().unwrap_or_default();
            lock(&shared).toasts.insert(id.to_owned(), text.to_owned());
            reply(json!(true))
        }
        "getFile" => {
            let id = body["file_id"].as_str().unwrap_or_default();
            if !lock(&shared).files.contains_key(id) {
                return refuse(400, "Bad Request: invalid file_id");
            }
            reply(json!({ "file_id": id, "file_path": format!("documents/{id}") }))
        }
        "getMe" => reply(
            json!({ "id": 110_201_543, "is_bot": true, "first_name": "cueme", "username": "cueme_bot" }),
        ),
        _ => refuse(404, "Not Found"),
    }
}

async fn updates(shared: &Shared, body: &Value) -> Response {
    shared.polls.fetch_add(1, Ordering::Relaxed);
    let offset = body["offset"].as_i64().unwrap_or(0);
    let wait = Duration::from_secs(body["timeout"].as_u64().unwrap_or(0));
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        let news = shared.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        {
            let mut chat = lock(shared);
            chat.confirmed = chat.confirmed.max(offset);
            if chat.updates.iter().any(|(id, _)| *id >= offset) {
                let repeats = shared.repeats.load(Ordering::Relaxed);
                let page = chat.updates.iter().filter(|(id, _)| repeats || *id >= offset);
                let mut page: Vec<Value> = page.map(|(_, update)| update.clone()).collect();
                if repeats {
                    page.reverse();
                    page.extend(page.clone());
                }
                return reply(Value::Array(page));
            }
        }
        if tokio::time::timeout_at(deadline, news).await.is_err() {
            return reply(json!([]));
        }
    }
}

fn send_message(shared: &Shared, body: &Value) -> Response {
    let message = match checked(body) {
        Ok(message) => message,
        Err(refusal) => return refuse(400, refusal),
    };
    let mut chat = lock(shared);
    let id = chat.next_id();
    let reply_to = body["reply_parameters"]["message_id"].as_i64();
    chat.messages.insert(
        id,
        TelegramMessage {
            id,
            reply_to,
            ..message
        },
    );
    reply(json!({ "message_id": id, "chat": { "id": CHAT } }))
}

fn edit(shared: &Shared, body: &Value) -> Response {
    let mut chat = lock(shared);
    let Some(known) = body["message_id"]
        .as_i64()
        .and_then(|id| chat.messages.get_mut(&id))
    else {
        return refuse(400, "Bad Request: message to edit not found");
    };
    let mut with_text = body.clone();
    if body["text"].is_null() {
        with_text["text"] = json!(known.text);
        with_text["entities"] = known.entities.clone();
    }
    let edited = match checked(&with_text) {
        Ok(edited) => edited,
        Err(refusal) => return refuse(400, refusal),
    };
    if (&edited.text, &edited.buttons) == (&known.text, &known.buttons) {
        return refuse(400, "Bad Request: message is not modified");
    }
    (known.text, known.entities, known.buttons) = (edited.text, edited.entities, edited.buttons);
    known.edits += 1;
    reply(json!({ "message_id": known.id }))
}

fn checked(body: &Value) -> Result<TelegramMessage, &'static str> {
    let chat = body["chat_id"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| Some(body["chat_id"].as_i64()?.to_string()));
    if chat != Some(CHAT.to_string()) {
        return Err("Bad Request: chat not found");
    }
    let text = body["text"].as_str().unwrap_or_default();
    let units = text.encode_utf16().count();
    if text.trim().is_empty() {
        return Err("Bad Request: message text is empty");
    }
    if units > TEXT_UNITS_MAX {
        return Err("Bad Request: message is too long");
    }
    let within = |entity: &Value| {
        let end = entity["offset"]
            .as_u64()
            .zip(entity["length"].as_u64())
            .map(|(offset, length)| offset + length);
        end.is_some_and(|end| end <= units as u64)
    };
    if !body["entities"].as_array().into_iter().flatten().all(within) {
        return Err("Bad Request: entity beyond the end of the message");
    }
    let mut buttons = Vec::new();
    for button in body["reply_markup"]["inline_keyboard"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|row| row.as_array())
        .flatten()
    {
        let text = button["text"].as_str().unwrap_or_default();
        let data = button["callback_data"].as_str().unwrap_or_default();
        if text.is_empty() || data.is_empty() || data.len() > CALLBACK_BYTES_MAX {
            return Err("Bad Request: BUTTON_DATA_INVALID");
        }
        buttons.push((text.to_owned(), data.to_owned()));
    }
    Ok(TelegramMessage {
        text: text.to_owned(),
        entities: body["entities"].clone(),
        buttons,
        ..TelegramMessage::default()
    })
}

fn send_document(shared: &Shared, form: &str) -> Response {
    let part = |name: &str| {
        let start = form.find(&format!("name=\"{name}\""))?;
        let (_, rest) = form[start..].split_once("\r\n\r\n")?;
        rest.split_once("\r\n--").map(|(value, _)| value.to_owned())
    };
    let Some(content) = part("document") else {
        return refuse(400, "Bad Request: there is no document in the request");
    };
    let name = form
        .split("filename=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_default()
        .to_owned();
    let reply_to = part("reply_parameters")
        .and_then(|json| serde_json::from_str::<Value>(&json).ok())
        .and_then(|parameters| parameters["message_id"].as_i64());
    let mut chat = lock(shared);
    let id = chat.next_id();
    let message = TelegramMessage {
        id,
        reply_to,
        file: Some((name, content)),
        ..TelegramMessage::default()
    };
    chat.messages.insert(id, message);
    reply(json!({ "message_id": id }))
}

async fn give_file(State(shared): State<Arc<Shared>>, Path((bot, path)): Path<(String, String)>) -> Response {
    if bot != format!("bot{}", shared.token) {
        return refuse(401, "Unauthorized");
    }
    let id = path.trim_start_matches("documents/");
    match lock(&shared).files.get(id) {
        Some(bytes) => bytes.clone().into_response(),
        None => refuse(404, "Not Found"),
    }
}

fn reply(result: Value) -> Response {
    axum::Json(json!({ "ok": true, "result": result })).into_response()
}

fn refuse(code: u16, description: &str) -> Response {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
    let body = json!({ "ok": false, "error_code": code, "description": description });
    (status, axum::Json(body)).into_response()
}
