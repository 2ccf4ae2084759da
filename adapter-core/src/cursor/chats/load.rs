//! Loads a chat: from the metadata to the root, and from the root on with the [`Reader`].
//!
//! Only a store that cannot be opened is an error; whatever else is missing or broken becomes a warning and the
//! rest is read.

use std::path::Path;

use super::blob_id::BlobId;
use super::error::ChatsError;
use super::message::{Chat, Warning};
use super::meta::{ChatMeta, parse_meta};
use super::reader::{Reader, Root};
use super::store::{Blob, ChatStore};
use super::wire::Fields;

/// The fields of a root that lead to messages.
const ROOT_PROMPT_FIELD: u32 = 1;
const ROOT_TURNS_FIELD: u32 = 8;

/// Loads the chat whose store is at `path`.
///
/// # Errors
///
/// Fails if the file cannot be opened or is not a chat store.
pub fn load_chat(path: &Path) -> Result<Chat, ChatsError> {
    let mut store = ChatStore::open(path)?;
    let mut warnings = Vec::new();
    let meta = read_meta(&store, &mut warnings)?;
    let root = match &meta.root_blob_id {
        Some(id) => read_root(&store, id, &mut warnings),
        None => Root::default(),
    };
    if root.has_messages()
        && let Err(error) = store.read_ahead()
    {
        warnings.push(Warning::Damaged(error.to_string()));
    }
    let mut reader = Reader::new(&store, warnings);
    let source = reader.read(&root);
    let (messages, warnings) = reader.finish();
    Ok(Chat {
        chat_id: meta.agent_id.unwrap_or_else(|| directory_name(path)),
        name: meta.name,
        mode: meta.mode,
        created_at: meta.created_at,
        model: meta.model,
        source,
        messages,
        warnings,
    })
}

/// Opens a store and reads its root, ready to look blobs up.
pub(super) fn load_root(path: &Path) -> Result<(ChatStore, Root), ChatsError> {
    let store = ChatStore::open(path)?;
    let mut warnings = Vec::new();
    let meta = read_meta(&store, &mut warnings)?;
    let root = meta.root_blob_id.map(|id| read_root(&store, &id, &mut warnings));
    Ok((store, root.unwrap_or_default()))
}

/// Reads only what a store says about its chat.
///
/// # Errors
///
/// Fails as [`load_chat`] does.
pub fn load_meta(path: &Path) -> Result<(ChatMeta, Vec<Warning>), ChatsError> {
    let store = ChatStore::open(path)?;
    let mut warnings = Vec::new();
    let meta = read_meta(&store, &mut warnings)?;
    Ok((meta, warnings))
}

fn read_meta(store: &ChatStore, warnings: &mut Vec<Warning>) -> Result<ChatMeta, ChatsError> {
    let parsed = match store.meta_row()? {
        Some(row) => parse_meta(&row),
        None => Err("there is none".to_owned()),
    };
    Ok(parsed.unwrap_or_else(|reason| {
        warnings.push(Warning::Metadata(reason));
        ChatMeta::default()
    }))
}

fn directory_name(path: &Path) -> String {
    let name = path.parent().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn read_root(store: &ChatStore, id: &str, warnings: &mut Vec<Warning>) -> Root {
    let unreadable = |reason: String| Warning::RootUnreadable {
        id: id.to_owned(),
        reason,
    };
    // Ids are lowercase in the store, and metadata may spell them otherwise.
    let id_in_store = BlobId::from_hex(id.as_bytes()).map_or_else(|| id.to_owned(), |id| id.to_string());
    let warning = match store.blob_by_text(&id_in_store) {
        Ok(Blob::Found(data)) => match parse_root(&data) {
            Ok(root) => return root,
            Err(reason) => unreadable(reason.to_owned()),
        },
        Ok(Blob::Missing) => Warning::RootMissing(id.to_owned()),
        Ok(Blob::TooLarge(bytes)) => unreadable(format!("it has {bytes} bytes")),
        Err(error) => unreadable(error.to_string()),
    };
    warnings.push(warning);
    Root::default()
}

fn parse_root(data: &[u8]) -> Result<Root, &'static str> {
    let mut root = Root::default();
    for field in Fields::new(data) {
        let field = field.map_err(|_| "it is not protobuf")?;
        let list = match field.number {
            ROOT_TURNS_FIELD => &mut root.turns,
            ROOT_PROMPT_FIELD => &mut root.prompt,
            _ => continue,
        };
        list.push(field.value.bytes().ok_or("it is not a conversation")?.to_vec());
    }
    Ok(root)
}
