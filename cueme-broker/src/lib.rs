//! The broker: who asked, who answered, and whether they know.
//!
//! Reading order: the rules ([`machine`]), what is on disk ([`store`]), the one thread that joins them ([`engine`]),
//! the socket clients speak through, and the life of the process.

pub mod machine;
pub mod store;

pub mod engine;

mod broker;
mod socket;

pub mod config;
pub mod lifecycle;
mod log;
mod serve;

pub use serve::{ServeError, ServeOptions, serve};
