//! The commands a person uses, and those that read what others have written.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, reason = "these tests need a part of what builds stores")]
#[path = "../../../adapter-core/tests/chat_store/mod.rs"]
mod chat_store;
mod chats;
mod human;
mod import;
mod operation;
mod terminal;
mod tui;
mod wait;
