//! Slack's Web API and Socket Mode, as far as an app in one channel needs them.

use std::collections::{BTreeMap, HashMap};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message as Frame;

use super::faults::Faults;
use super::server::Server;
use crate::eventually;

const BOT_TOKEN: &str = "xoxb-1111-2222-abcdef";
const APP_TOKEN: &str = "xapp-1-A1-3333-abcdef";
const CHANNEL: &str = "C0DESK";
/// Limits of the API.
const BLOCKS_MAX: usize = 50;
const LABEL_CHARS_MAX: usize = 75;
/// The timeout of an envelope's acknowledgement.
const ACK_MAX: Duration = Duration::from_secs(3);

/// A message of the app, as it is seen in the channel now.
#[derive(Debug, Clone, Default)]
pub struct SlackMessage {
    /// Its id.
    pub ts: String,
    /// All the text in its blocks.
    pub words: String,
    /// The text in notifications.
    pub text: String,
    /// Its buttons: label, and what they carry.
    pub buttons: Vec<(String, String)>,
    /// Its blocks.
    pub blocks: Vec<Value>,
}

/// The service.
#[derive(Debug)]
pub struct Slack {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<Workspace>,
    news: Notify,
    faults: Faults,
    socket: String,
}

#[derive(Debug, Default)]
struct Workspace {
    messages: BTreeMap<String, SlackMessage>,
    whispers: Vec<(String, String)>,
    files: HashMap<String, Vec<u8>>,
    /// Files that the app uploaded: name, content, thread.
    uploads: Vec<(String, String, String)>,
    envelopes: Vec<Envelope>,
    last_id: u64,
    connections: u32,
    /// Each envelope is sent so many times.
    copies: usize,
    /// Ask the app to connect again after the next envelope.
    disconnects: bool,
    late: u32,
}

#[derive(Debug)]
struct Envelope {
    content: Value,
    sent_at: Option<Instant>,
    acknowledged: bool,
}

impl Default for Slack {
    fn default() -> Self {
        Self::start()
    }
}

impl Slack {
    /// Starts it.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener");
        let shared = Arc::new(Shared {
            socket: format!(
                "ws://{}/link/?ticket=1",
                listener.local_addr().expect("an address")
            ),
            state: Mutex::new(Workspace {
                copies: 1,
                ..Workspace::default()
            }),
            news: Notify::new(),
            faults: Faults::default(),
        });
        let routes = Router::new()
            .route("/api/{method}", post(call).get(call_by_query))
            .route("/upload/{name}", post(upload))
            .route("/files/{name}", get(give_file))
            .with_state(Arc::clone(&shared));
        Self {
            server: Server::start_with(routes, accept(listener, Arc::clone(&shared))),
            shared,
        }
    }

    /// Returns the section of the configuration that uses it; the tokens are in these files.
    pub fn section(&self, token_file: &str, app_token_file: &str, people: &str) -> String {
        format!(
            "[[notify]]\nkind = \"slack\"\nurl = \"{}/api\"\ntoken = \"file:{token_file}\"\napp_token = \"file:{app_token_file}\"\n\
             channel = \"{CHANNEL}\"\nafter = \"0\"\npeople = {people}\n",
            self.server.url()
        )
    }

    /// Returns the bot's and the app's token.
    pub fn tokens(&self) -> (&'static str, &'static str) {
        (BOT_TOKEN, APP_TOKEN)
    }

    /// Returns where failures are prepared, by method.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// From now on every envelope comes twice, and the server wants a new connection after each.
    pub fn repeat_and_disconnect(&self) {
        let mut workspace = lock(&self.shared);
        (workspace.copies, workspace.disconnects) = (2, true);
    }

    /// Returns how often the app has connected.
    pub fn connections(&self) -> u32 {
        lock(&self.shared).connections
    }

    /// Returns how many envelopes were acknowledged too late.
    pub fn late(&self) -> u32 {
        lock(&self.shared).late
    }

    /// Returns every message of the app.
    pub fn messages(&self) -> Vec<SlackMessage> {
        lock(&self.shared).messages.values().cloned().collect()
    }

    /// Returns what one person was told alone.
    pub fn whispers(&self) -> Vec<(String, String)> {
        lock(&self.shared).whispers.clone()
    }

    /// Returns the files that the app uploaded: name, content, thread.
    pub fn uploads(&self) -> Vec<(String, String, String)> {
        lock(&self.shared).uploads.clone()
    }

    /// Waits for a message with these words.
    #[track_caller]
    pub fn wait_for(&self, words: &str) -> SlackMessage {
        eventually(&format!("a message with {words:?}"), || {
            self.messages()
                .into_iter()
                .find(|message| message.words.contains(words))
        })
    }

    /// Somebody presses the button whose label contains this, with these options marked.
    #[track_caller]
    pub fn press(&self, user: &str, message: &SlackMessage, label: &str, marked: &[usize]) {
        let button = message.buttons.iter().find(|(text, _)| text.contains(label));
        let (_, data) = button.unwrap_or_else(|| panic!("no button {label:?} in {message:?}"));
        let selected: Vec<Value> = marked
            .iter()
            .map(|index| json!({ "value": index.to_string() }))
            .collect();
        let mut workspace = lock(&self.shared);
        let at = next_ts(&mut workspace);
        let payload = json!({
            "type": "block_actions",
            "user": { "id": user, "username": user.to_lowercase(), "team_id": "T1" },
            "container": { "type": "message", "message_ts": message.ts, "channel_id": CHANNEL },
            "state": { "values": { "marks": { "marks": { "type": "checkboxes", "selected_options": selected } } } },
            "actions": [{ "type": "button", "action_id": data, "value": data, "action_ts": at }],
        });
        add(&mut workspace, &self.shared, "interactive", payload);
    }

    /// Somebody replies in the thread of a message.
    pub fn reply(&self, user: &str, message: &SlackMessage, text: &str) {
        self.write(user, &message.ts, json!({ "text": text }));
    }

    /// Somebody replies with a file.
    pub fn reply_with_file(&self, user: &str, message: &SlackMessage, name: &str, bytes: &[u8], text: &str) {
        lock(&self.shared).files.insert(name.to_owned(), bytes.to_vec());
        let url = format!("{}/files/{name}", self.server.url());
        let files = json!([{ "id": "F1", "name": name, "url_private_download": url }]);
        self.write(
            user,
            &message.ts,
            json!({ "text": text, "subtype": "file_share", "files": files }),
        );
    }

    /// Somebody replies in the thread and to the channel, with a file that another service keeps.
    pub fn reply_to_channel_with_foreign_file(&self, user: &str, message: &SlackMessage, text: &str) {
        let files = json!([{ "id": "F2", "name": "plan.gdoc", "mode": "external", "is_external": true }]);
        let event = json!({ "text": text, "subtype": "thread_broadcast", "files": files });
        self.write(user, &message.ts, event);
    }

    /// Somebody replies in the thread and to the channel.
    pub fn reply_to_channel(&self, user: &str, message: &SlackMessage, text: &str) {
        let event = json!({ "text": text, "subtype": "thread_broadcast" });
        self.write(user, &message.ts, event);
    }

    /// Waits until every envelope so far is acknowledged.
    #[track_caller]
    pub fn wait_until_heard(&self) {
        eventually("every envelope is acknowledged", || {
            lock(&self.shared)
                .envelopes
                .iter()
                .all(|envelope| envelope.acknowledged)
                .then_some(())
        });
    }

    fn write(&self, user: &str, thread: &str, mut event: Value) {
        let mut workspace = lock(&self.shared);
        event["type"] = json!("message");
        event["channel"] = json!(CHANNEL);
        event["user"] = json!(user);
        event["ts"] = json!(next_ts(&mut workspace));
        event["thread_ts"] = json!(thread);
        add(
            &mut workspace,
            &self.shared,
            "events_api",
            json!({ "type": "event_callback", "event": event }),
        );
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Workspace> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next_ts(workspace: &mut Workspace) -> String {
    workspace.last_id += 1;
    format!("1700000000.{:06}", workspace.last_id)
}

fn add(workspace: &mut Workspace, shared: &Shared, kind: &str, payload: Value) {
    let id = format!("envelope-{}", next_ts(workspace));
    let content =
        json!({ "type": kind, "envelope_id": id, "payload": payload, "accepts_response_payload": false });
    for _ in 0..workspace.copies {
        workspace.envelopes.push(Envelope {
            content: content.clone(),
            sent_at: None,
            acknowledged: false,
        });
    }
    shared.news.notify_waiters();
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if let Ok(socket) = tokio_tungstenite::accept_async(stream).await {
                serve(socket, shared).await;
            }
        });
    }
}

type Socket = tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>;

async fn serve(mut socket: Socket, shared: Arc<Shared>) {
    lock(&shared).connections += 1;
    let hello = json!({ "type": "hello", "num_connections": 1, "connection_info": { "app_id": "A1" } });
    if socket.send(Frame::text(hello.to_string())).await.is_err() {
        return;
    }
    loop {
        let news = shared.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        let (next, disconnects) = {
            let mut workspace = lock(&shared);
            let disconnects = workspace.disconnects;
            let waiting = workspace
                .envelopes
                .iter_mut()
                .find(|envelope| envelope.sent_at.is_none());
            let content = waiting.map(|envelope| {
                envelope.sent_at = Some(Instant::now());
                envelope.content.clone()
            });
            (content, disconnects)
        };
        if let Some(content) = next {
            let is_sent = socket.send(Frame::text(content.to_string())).await.is_ok();
            if !is_sent || !hear(&mut socket, &shared).await {
                send_again(&shared, &content);
                return;
            }
            if disconnects {
                let bye = json!({ "type": "disconnect", "reason": "refresh_requested" });
                // The other side may have gone.
                let _ = socket.send(Frame::text(bye.to_string())).await;
                return;
            }
            continue;
        }
        tokio::select! {
            () = news => {}
            frame = socket.next() => if !matches!(frame, Some(Ok(_))) { return },
        }
    }
}

/// Another connection gets what this one lost.
fn send_again(shared: &Shared, content: &Value) {
    let mut workspace = lock(shared);
    let lost = workspace.envelopes.iter_mut().find(|envelope| {
        envelope.content == *content && envelope.sent_at.is_some() && !envelope.acknowledged
    });
    if let Some(envelope) = lost {
        envelope.sent_at = None;
    }
    shared.news.notify_waiters();
}

/// Waits for an acknowledgement; says whether the connection lives.
async fn hear(socket: &mut Socket, shared: &Shared) -> bool {
    while let Some(Ok(frame)) = socket.next().await {
        let Frame::Text(text) = frame else { continue };
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut workspace = lock(shared);
        let known = workspace.envelopes.iter_mut().find(|envelope| {
            envelope.content["envelope_id"] == said["envelope_id"]
                && envelope.sent_at.is_some()
                && !envelope.acknowledged
        });
        let is_late = known.map(|envelope| {
            envelope.acknowledged = true;
            envelope.sent_at.is_some_and(|at| at.elapsed() > ACK_MAX)
        });
        workspace.late += u32::from(is_late == Some(true));
        return true;
    }
    false
}

async fn call_by_query(
    state: State<Arc<Shared>>,
    method: Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let body = serde_json::to_vec(&query).unwrap_or_default();
    call(state, method, headers, body.into()).await
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(fault) = shared.faults.next(&method) {
        return fault.into_response();
    }
    let token = if method == "apps.connections.open" {
        APP_TOKEN
    } else {
        BOT_TOKEN
    };
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    if given != Some(&format!("Bearer {token}")) {
        return refuse("invalid_auth");
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut workspace = lock(&shared);
    match method.as_str() {
        "apps.connections.open" => reply(json!({ "url": shared.socket })),
        "chat.postMessage" if body["channel"] != CHANNEL => refuse("channel_not_found"),
        "chat.postMessage" => match read_message(&body) {
            Err(error) => refuse(error),
            Ok(message) => {
                let ts = next_ts(&mut workspace);
                workspace.messages.insert(
                    ts.clone(),
                    SlackMessage {
                        ts: ts.clone(),
                        ..message
                    },
                );
                reply(json!({ "channel": CHANNEL, "ts": ts }))
            }
        },
        "chat.update" => match (read_message(&body), body["ts"].as_str()) {
            (Err(error), _) => refuse(error),
            (Ok(message), Some(ts)) if workspace.messages.contains_key(ts) => {
                workspace.messages.insert(
                    ts.to_owned(),
                    SlackMessage {
                        ts: ts.to_owned(),
                        ..message
                    },
                );
                reply(json!({ "channel": CHANNEL, "ts": ts }))
            }
            _ => refuse("message_not_found"),
        },
        "chat.postEphemeral" => {
            let of = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
            workspace.whispers.push((of("user"), of("text")));
            reply(json!({ "message_ts": "1" }))
        }
        "files.getUploadURLExternal" => {
            let name = body["filename"].as_str().unwrap_or_default();
            let host = headers
                .get("host")
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default();
            reply(json!({ "upload_url": format!("http://{host}/upload/{name}"), "file_id": name }))
        }
        "files.completeUploadExternal" => {
            let name = body["files"][0]["id"].as_str().unwrap_or_default().to_owned();
            let content = workspace.files.get(&name).cloned().unwrap_or_default();
            let thread = body["thread_ts"].as_str().unwrap_or_default().to_owned();
            workspace
                .uploads
                .push((name, String::from_utf8_lossy(&content).into_owned(), thread));
            reply(json!({}))
        }
        "auth.test" => reply(json!({ "team": "Desk", "user": "cueme" })),
        _ => refuse("unknown_method"),
    }
}

fn read_message(body: &Value) -> Result<SlackMessage, &'static str> {
    let blocks = body["blocks"].as_array().cloned().unwrap_or_default();
    if blocks.len() > BLOCKS_MAX || blocks.is_empty() {
        return Err("invalid_blocks");
    }
    let mut message = SlackMessage {
        text: body["text"].as_str().unwrap_or_default().to_owned(),
        ..SlackMessage::default()
    };
    for block in &blocks {
        collect(block, &mut message)?;
    }
    message.blocks = blocks;
    Ok(message)
}

/// Collects words and buttons, and checks the limits of labels.
fn collect(value: &Value, message: &mut SlackMessage) -> Result<(), &'static str> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, message)),
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "button") {
                let label = value["text"]["text"].as_str().unwrap_or_default();
                if label.is_empty()
                    || label.chars().count() > LABEL_CHARS_MAX
                    || value["action_id"].as_str().is_none()
                {
                    return Err("invalid_blocks");
                }
                let data = value["value"].as_str().unwrap_or_default();
                message.buttons.push((label.to_owned(), data.to_owned()));
                return Ok(());
            }
            if let Some(text) = fields.get("text").and_then(Value::as_str) {
                message.words.push_str(text);
                message.words.push('\n');
            }
            fields
                .values()
                .filter(|field| !field.is_string())
                .try_for_each(|field| collect(field, message))
        }
        _ => Ok(()),
    }
}

async fn upload(State(shared): State<Arc<Shared>>, Path(name): Path<String>, body: Bytes) -> Response {
    lock(&shared).files.insert(name, body.to_vec());
    "OK".into_response()
}

async fn give_file(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    match lock(&shared).files.get(&name) {
        Some(bytes) if given == Some(&format!("Bearer {BOT_TOKEN}")) => bytes.clone().into_response(),
        _ => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

fn reply(mut body: Value) -> Response {
    body["ok"] = json!(true);
    axum::Json(body).into_response()
}

fn refuse(error: &str) -> Response {
    axum::Json(json!({ "ok": false, "error": error })).into_response()
}
