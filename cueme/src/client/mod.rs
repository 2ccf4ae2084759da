//! The client's side of the socket: find the broker or start it, say one thing, hear the answer.
//!
//! Everything here blocks on the operating system and nothing polls on a timer, so that a client which waits for days
//! costs nothing while it does.

mod connect;
mod start;

mod session;

mod call;
mod wait;

mod ack;
mod budget;
mod signals;

pub(crate) use call::{call, call_running, expect_reply, list, watch};
pub(crate) use connect::connect;
pub(crate) use session::unexpected_reply;
pub(crate) use start::lock_start;
pub(crate) use wait::{Question, Taken, ask_and_take, ask_and_wait};
