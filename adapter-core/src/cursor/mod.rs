//! Cursor: its CLI, its chats on disk, its agents in the cloud.

pub mod chats;
pub mod cli;
pub mod cloud;
pub mod tool_kind;
