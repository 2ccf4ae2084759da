//! The chats the double keeps: one folder each, under the hash of the working directory.

use std::path::PathBuf;

use md5::{Digest, Md5};

use crate::args::Args;

/// Makes an empty chat and returns its id.
pub(crate) fn create(_: &Args) -> String {
    let id = uuid::Uuid::new_v4().to_string();
    record(&id, "");
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
    let Some(folder) = folder(id) else { return };
    let _ = std::fs::create_dir_all(&folder);
    let file = folder.join("prompt_history.json");
    let known = std::fs::read(&file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut prompts: Vec<String> = known.unwrap_or_default();
    if !prompt.is_empty() {
        prompts.push(prompt.to_owned());
    }
    let _ = std::fs::write(file, serde_json::json!(prompts).to_string());
    let meta = serde_json::json!({"schemaVersion": 1, "hasConversation": !prompts.is_empty()});
    let _ = std::fs::write(folder.join("meta.json"), meta.to_string());
}

/// Returns how many turns the chat had before this one.
pub(crate) fn turns(id: &str) -> usize {
    let file = folder(id).map(|folder| folder.join("prompt_history.json"));
    let bytes = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    serde_json::from_slice::<Vec<String>>(&bytes).map_or(0, |prompts| prompts.len())
}

fn folder(id: &str) -> Option<PathBuf> {
    let root = PathBuf::from(std::env::var_os("FAKE_CURSOR_HOME")?);
    let cwd = std::env::current_dir().ok()?.canonicalize().ok()?;
    let hash = Md5::digest(cwd.as_os_str().as_encoded_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(root.join("chats").join(hash).join(id))
}
