//! Agents over HTTP: join, recall, ask by long poll, acknowledge. For agents that cannot reach the local socket.
//!
//! A token acts for its own agents only, and nothing here answers a question.

mod routes;

mod ack;
mod ask;
mod join;
mod own;
mod recall;
mod wait;

pub(super) use routes::routes;
pub(super) use wait::WaitQuery;
