//! Chats read from stores written as Cursor writes them.
#![allow(clippy::unwrap_used, reason = "a test may end with a panic")]

#[path = "../chat_store/mod.rs"]
mod chat_store;
mod fixture;

mod messages;
mod tools;

mod damage;
mod limits;

mod catalog;
mod files;
mod watch;

mod shared;
