//! The local socket: one task per connection, one JSON object a line.
//!
//! Only processes of the same user are served. A connection that is slow, silent or wrong costs only itself.

mod check;
mod connection;
mod dispatch;
mod list;
mod listen;
mod operation;
mod refusals;
mod room;

pub(crate) use check::check_names;
pub(crate) use listen::{Listener, accept};
pub(crate) use operation::ask::check_ask;

/// How many connections are served at once.
pub(crate) const CONNECTIONS_MAX: usize = 50_000;
/// How many waits one connection may have.
pub(crate) const WAITS_PER_CONNECTION_MAX: usize = 1024;
