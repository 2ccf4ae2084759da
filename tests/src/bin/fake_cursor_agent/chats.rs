//! The chats the double keeps, where and as the real CLI keeps them: a store for each, under the hash of the working
//! directory.

use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::args::Args;

/// Makes an empty chat and returns its id.
pub(crate) fn create(_: &Args) -> String {
    let id = uuid::Uuid::new_v4().to_string();
    write(&id, &[]);
    id
}

/// Returns the id of the chat this turn belongs to.
///
/// An unknown id is adopted in silence, as the real CLI does.
pub(crate) fn open(args: &Args) -> String {
    let id = args.resume.clone().or_else(|| args.new_session_id.clone());
    id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
}

/// Refuses an id for a new chat that is no UUIDv4, or is taken.
pub(crate) fn refuse_new_id(args: &Args) -> Option<String> {
    let id = args.new_session_id.as_deref()?;
    match uuid::Uuid::parse_str(id) {
        Ok(parsed) if parsed.get_version_num() == 4 => {}
        _ => return Some(format!("Invalid session id '{id}': expected a UUIDv4.")),
    }
    folder(id)
        .filter(|folder| folder.exists())
        .map(|_| format!("Session id {id} is already in use."))
}

/// Adds a turn to the chat.
pub(crate) fn record(id: &str, prompt: &str) {
    let mut prompts = prompts(id);
    prompts.push(prompt.to_owned());
    write(id, &prompts);
}

/// Loses everything that was said in the chat.
pub(crate) fn forget(id: &str) {
    if let Some(folder) = folder(id) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Returns how many turns the chat has.
pub(crate) fn turns(id: &str) -> usize {
    prompts(id).len()
}

/// Returns the model to use: the one that is named, which is remembered, else the one that was named last.
pub(crate) fn model(named: Option<&str>) -> Option<String> {
    let file = home()?.join("cli-config.json");
    let known = std::fs::read(&file).ok();
    let mut config: Value = known
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_else(|| json!({"version": 1}));
    if let Some(named) = named {
        config["model"]["modelId"] = json!(named);
        config["hasChangedDefaultModel"] = json!(true);
        let _ = std::fs::create_dir_all(home()?);
        let _ = std::fs::write(file, config.to_string());
    }
    config["model"]["modelId"].as_str().map(str::to_owned)
}

fn prompts(id: &str) -> Vec<String> {
    let file = folder(id).map(|folder| folder.join("prompt_history.json"));
    let bytes = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn write(id: &str, prompts: &[String]) {
    let Some(folder) = folder(id) else { return };
    let _ = std::fs::create_dir_all(&folder);
    let _ = std::fs::write(folder.join("prompt_history.json"), json!(prompts).to_string());
    let cwd = std::env::current_dir().unwrap_or_default();
    let meta = json!({"schemaVersion": 1, "hasConversation": !prompts.is_empty(), "cwd": cwd});
    let _ = std::fs::write(folder.join("meta.json"), meta.to_string());
    if let Err(error) = write_store(&folder.join("store.db"), id, prompts) {
        eprintln!("could not write the chat: {error}");
    }
}

/// Writes the store: what the user said is a blob, a turn points to it, and the root lists the turns in field 8.
fn write_store(path: &Path, id: &str, prompts: &[String]) -> Result<(), rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA user_version = 1;
         CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB);
         CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);",
    )?;
    let add = |data: &[u8]| {
        let digest = Sha256::digest(data).to_vec();
        let row = (hex(&digest), data);
        connection
            .execute("INSERT OR IGNORE INTO blobs VALUES (?1, ?2)", row)
            .map(|_| digest)
    };
    let mut root = Vec::new();
    for (number, prompt) in prompts.iter().enumerate() {
        let message = format!("message-{number}");
        let user = [field(1, prompt.as_bytes()), field(2, message.as_bytes())].concat();
        let turn = field(1, &field(1, &add(&user)?));
        root.extend(field(8, &add(&turn)?));
    }
    let mut meta =
        json!({"agentId": id, "name": "A chat", "mode": "default", "createdAt": 1_790_000_000_000_i64});
    if !prompts.is_empty() {
        meta["latestRootBlobId"] = json!(hex(&add(&root)?));
    }
    let meta = hex(meta.to_string().as_bytes());
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?1)", [meta])?;
    Ok(())
}

/// Writes a field of bytes as protobuf does.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(value);
    out
}

fn folder(id: &str) -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?.canonicalize().ok()?;
    let hash = Md5::digest(cwd.as_os_str().as_encoded_bytes());
    Some(home()?.join("chats").join(hex(&hash)).join(id))
}

/// Returns the folder that stands for `~/.cursor`.
fn home() -> Option<PathBuf> {
    std::env::var_os("FAKE_CURSOR_HOME").map(PathBuf::from)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
