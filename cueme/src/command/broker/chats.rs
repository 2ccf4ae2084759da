//! Cursor's chats for the page of the broker. Nothing of Cursor's is ever changed.

use std::path::Path;

use adapter_core::cursor::chats::{
    Chat, ChatMessage as StoredMessage, ChatsError, ChatsRoot, Role, load_chat,
};
use cueme_broker::chats::{CHAT_MESSAGES_MAX, ChatMessage, ChatPart, ChatPlace, ChatReader, ChatTool};

/// The limit on the length of one text.
const TEXT_CHARS_MAX: usize = 8_000;

/// Reads what Cursor's CLI keeps of its chats.
#[derive(Debug)]
pub(super) struct CursorChats;

impl ChatReader for CursorChats {
    fn read(&self, places: &[ChatPlace], before: Option<usize>) -> Result<Option<ChatPart>, String> {
        let chat = load(places).map_err(|error| error.to_string())?;
        Ok(chat.map(|chat| part(&chat, before)))
    }
}

fn load(places: &[ChatPlace]) -> Result<Option<Chat>, ChatsError> {
    let root = ChatsRoot::from_env()?;
    for place in places {
        if let Ok(store) = root.find(&place.session, Some(Path::new(&place.project))) {
            return load_chat(&store).map(Some);
        }
    }
    Ok(None)
}

fn part(chat: &Chat, before: Option<usize>) -> ChatPart {
    let total = chat.messages.len();
    let end = before.unwrap_or(total).min(total);
    let first = end.saturating_sub(CHAT_MESSAGES_MAX);
    ChatPart {
        chat_id: chat.chat_id.clone(),
        name: chat.name.clone(),
        mode: chat.mode.clone(),
        first,
        total,
        messages: chat.messages[first..end].iter().map(message).collect(),
        warnings: chat.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn message(stored: &StoredMessage) -> ChatMessage {
    let tools = stored.tools.iter().map(|tool| {
        let detail = tool.detail();
        ChatTool {
            name: tool.name.to_string(),
            args: truncated(&detail.args.to_string()),
            outcome: detail.outcome.as_ref().map(ToString::to_string),
            result: truncated(&tool.result()),
            is_error: detail.is_error,
        }
    });
    ChatMessage {
        role: match stored.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Thinking => "thinking",
            Role::Tool => "tool",
        },
        text: truncated(&stored.text),
        tools: tools.collect(),
    }
}

/// Truncates a text, and shows that it did.
fn truncated(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
