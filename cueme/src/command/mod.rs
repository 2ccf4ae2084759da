//! One file per verb. Each takes its arguments and returns how the call ends.

mod cue;
mod join;
mod pause;
mod recall;

mod agents;
mod answer;
mod cancel;
mod decline;
mod history;
mod inbox;
mod last;
mod link;
mod say;
mod show;
mod token;
mod tui;
mod ui;
mod undo;

mod agent;
mod chats;
mod cloud;

mod acp;
mod hook;
mod init;
mod mcp;
mod notify;
mod protocol;

mod backup;
mod broker;
mod completions;
mod demo;
mod docs;
mod doctor;
mod import;
mod man;
mod purge;
mod restore;
mod store;
mod update;

mod decided;
mod sandbox;
mod terminal;

mod run;

pub(crate) use acp::AcpArgs;
pub(crate) use answer::UNDO_WINDOW_MS;
pub(crate) use decided::words as decided_words;
pub(crate) use docs::DocsArgs;
pub(crate) use hook::HookArgs;
pub(crate) use import::ImportArgs;
pub(crate) use inbox::{RECONNECT_PAUSE, listed};
pub(crate) use init::InitArgs;
pub(crate) use link::LinkArgs;
pub(crate) use man::ManArgs;
pub(crate) use mcp::McpArgs;
pub(crate) use protocol::ProtocolArgs;
pub(crate) use run::run;
pub(crate) use say::words as said_words;
