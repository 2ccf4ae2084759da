//! Errors that occur before a single message of a chat is read.
//!
//! Later errors are warnings on the loaded chat, because the rest can still be read.

use std::io;
use std::path::PathBuf;

use protocol_spec::visible::quoted;
use thiserror::Error;

/// Why chats could not be found or a store could not be opened.
#[derive(Debug, Error)]
pub enum ChatsError {
    /// The file system refused something.
    #[error("could not {attempt} {path}: {source}", path = path.display())]
    Io {
        /// The verb phrase of what was tried, for example `read`.
        attempt: &'static str,
        /// The path of the attempt.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path names a directory, a pipe or another thing that no database can be in.
    #[error("{path} is not a regular file", path = .0.display())]
    NotAFile(PathBuf),
    /// The file has no bytes.
    #[error("{path} is empty", path = .0.display())]
    EmptyFile(PathBuf),
    /// The bytes are not those of a SQLite database.
    #[error("{path} is not a SQLite database", path = .0.display())]
    NotSqlite(PathBuf),
    /// A SQLite database without the tables of a chat store.
    #[error("{path} is a SQLite database, but not a Cursor chat: it has no table `meta`", path = .0.display())]
    NotAChat(PathBuf),
    /// Another process held the database for longer than we wait.
    #[error("{path} stayed locked by another process", path = .0.display())]
    Busy(PathBuf),
    /// SQLite refused something else.
    #[error("could not {attempt} {path}: {source}", path = path.display())]
    Sqlite {
        /// The verb phrase of what was tried.
        attempt: &'static str,
        /// The database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// A copy would have been needed to read the store, and it is too large to copy.
    #[error("{path} has {bytes} bytes, more than can be copied for reading", path = path.display())]
    TooLarge {
        /// The database.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The words given as a chat id cannot be one.
    #[error("{} is not a chat id: {reason}", quoted(.id))]
    InvalidChatId {
        /// The id as given.
        id: String,
        /// The reason.
        reason: &'static str,
    },
    /// No project has a chat with this id.
    #[error("no chat {id} under {root}", root = root.display())]
    UnknownChat {
        /// The id that was looked for.
        id: String,
        /// The directory in which it was looked for.
        root: PathBuf,
    },
    /// More than one project has a chat with this id, and none of them is the one asked about.
    #[error("{count} projects have a chat {id}")]
    AmbiguousChat {
        /// The id that was looked for.
        id: String,
        /// The number of projects that have it.
        count: usize,
    },
    /// Neither a home directory nor a Cursor directory is known.
    #[error("could not tell where Cursor keeps its chats: HOME is not set")]
    NoHome,
    /// The file system watcher could not be started or kept.
    #[error("could not watch {path}: {source}", path = path.display())]
    Watch {
        /// The directory.
        path: PathBuf,
        /// The error of the watcher.
        source: notify::Error,
    },
}

impl ChatsError {
    /// Returns what the user can do next, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ChatsError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("check who owns the file; a chat is readable only by the user whose Cursor wrote it")
            }
            ChatsError::UnknownChat { .. } => Some("list the chats there are: cueme chats ls"),
            ChatsError::AmbiguousChat { .. } => {
                Some("name the project with --project DIR, or give the path of its store.db")
            }
            ChatsError::InvalidChatId { .. } => Some("to read a file by its path, give an existing path"),
            ChatsError::NotSqlite(_) | ChatsError::NotAChat(_) | ChatsError::NotAFile(_) => {
                Some("a chat is the file store.db in ~/.cursor/chats/<project>/<chat>/")
            }
            ChatsError::Busy(_) => Some("try again; Cursor is writing to this chat"),
            ChatsError::NoHome => Some("set HOME, or CURSOR_CONFIG_DIR to Cursor's directory"),
            _ => None,
        }
    }
}
