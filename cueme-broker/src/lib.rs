//! The broker: who asked, who answered, and whether they know.
//!
//! The rules are [`cueme_rules`], and what a store has to do is [`cueme_store`]. Reading order here: the one thread that joins them
//! ([`engine`]), the socket clients speak through, runs of agents and how they call back ([`callback`]), the page and its API, what the broker does by itself ([`policy`],
//! [`notify`]), and the life of the process.

use cueme_rules as machine;
use cueme_store as store;

pub mod engine;

mod broker;
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
mod serve;

pub use serve::{ServeError, ServeOptions, serve};
pub use web::{edge, patch};

/// The description of the HTTP API, as Markdown.
pub const HTTP_API: &str = include_str!("web/API.md");
