//! The second listener, for agents elsewhere: webhooks, the exchange of tokens, skills, and the questions of agents.
//!
//! It serves nothing that a human does, and nothing of the page. It is off unless the configuration has an address for
//! it.

mod respond;
mod routes;

mod exchange;
mod health;
mod skills;
mod webhook;

pub(super) use respond::respond;
pub(super) use routes::{describe, routes};
