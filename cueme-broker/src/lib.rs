//! The broker: who asked, who answered, and whether they know.
//!
//! Reading order: the rules ([`machine`]), what is on disk ([`store`]), the one thread that joins them ([`engine`]),
//! the socket clients speak through, runs of agents and how they call back ([`callback`]), the page and its API, what the broker does by itself ([`policy`],
//! [`notify`]), and the life of the process.

pub use cueme_rules as machine;

pub mod store;

pub mod engine;

mod broker;
mod presence;
mod socket;

pub mod callback;
pub mod chats;
pub mod notify;
pub mod policy;
mod runs;
mod web;

pub mod config;
pub mod hours;
pub mod lifecycle;
mod log;
mod serve;

pub use serve::{ServeError, ServeOptions, serve};
pub use web::edge;
