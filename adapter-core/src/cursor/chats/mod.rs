//! Reads the chats Cursor keeps on disk, while Cursor writes to them.
//!
//! Everything here is read-only: no file of Cursor's is created, changed or locked against its writers. The
//! store's format is not documented by Cursor, so reading is lenient throughout: a chat is loaded as far as it
//! can be, and what could not be read is said in its warnings.
//!
//! Read in this order: [`load_chat`] for the way from a file to messages, then what it stands on.

mod blob_id;
mod catalog;
mod load;
mod mark;
mod message;
mod meta;
mod prompt;
mod reader;
mod render;
mod schema;
mod store;
mod text;
mod tool;
mod tool_schema;
mod turn;
mod watch;
mod wire;

mod error;

pub use blob_id::BlobId;
pub use catalog::{ChatSummary, ChatsRoot, Listing, Project, STORE_FILE, project_id};
pub use error::ChatsError;
pub use load::{load_chat, load_meta};
pub use mark::{ChatMark, mark_chat};
pub use message::{Chat, ChatMessage, Original, Role, Source, ToolDetail, ToolUse, Warning};
pub use meta::ChatMeta;
pub use render::{chat_markdown, listing_text};
pub use text::Text;
pub use watch::{Change, ChatEvent, ChatWatcher, watch_chats};
