//! The local socket: one task per connection, one JSON object a line.
//!
//! Processes of the same user are served, and programs elsewhere whose connection the web side has upgraded. A slow,
//! silent or faulty connection affects only itself.

mod caller;
mod check;
mod connection;
mod dispatch;
mod list;
mod listen;
mod operation;
mod refusals;
mod room;
mod stream;

pub(crate) use caller::{Remote, check_own_agent, check_own_cues, join_with, owns};
pub(crate) use listen::{Listener, accept, serve_remote};
pub(crate) use operation::ask::check_ask;

/// The most connections that are served at once.
pub(crate) const CONNECTIONS_MAX: usize = 50_000;
/// The most waits of one connection.
pub(crate) const WAITS_PER_CONNECTION_MAX: usize = 1024;
