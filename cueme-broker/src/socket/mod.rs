//! The local socket: one task per connection, one JSON object a line.
//!
//! Only processes of the same user are served. A connection that is slow, silent or wrong costs only itself.

mod connection;
mod dispatch;
mod import;
mod list;
mod listen;
mod refusals;
mod room;
mod runs;
mod watch;

pub(crate) use dispatch::{check_ask, check_names};
pub(crate) use listen::{Listener, accept};

/// How many connections are served at once.
pub(crate) const CONNECTIONS_MAX: usize = 50_000;
/// How many waits one connection may have.
pub(crate) const WAITS_PER_CONNECTION_MAX: usize = 1024;
