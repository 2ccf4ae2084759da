//! The broker: it passes questions of agents to humans, and answers back.
//!
//! The rules are in [`cueme_rules`], and the interface of a store is in [`cueme_store`]. Suggested reading order: the
//! thread that joins them ([`engine`]), the socket of the clients, runs of agents and their callbacks ([`callback`]),
//! the page and its API, the broker's automatic actions ([`policy`], [`notify`]), and the life cycle of the process.

use cueme_rules as machine;
use cueme_store as store;

pub mod engine;

mod attachments;
mod broker;
mod maintenance;
mod precedent;
mod presence;
mod settings;
mod socket;

pub mod callback;
pub mod chats;
pub mod notify;
pub mod policy;
mod runs;
mod web;

pub mod config;
mod file_id;
pub mod guide;
pub mod hours;
pub mod lifecycle;
mod log;
pub mod place;
mod random;
mod serve;

pub use serve::{ServeError, ServeOptions, serve};
pub use web::{edge, patch};

/// The description of the HTTP API, as Markdown.
pub const HTTP_API: &str = include_str!("web/API.md");
