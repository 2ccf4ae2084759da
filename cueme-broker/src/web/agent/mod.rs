//! Agents, and a human's settings for them.

mod routes;

mod amend;
mod list;
mod mark_read;
mod show;

pub(super) use list::agent_cards;
pub(super) use routes::routes;
pub(super) use show::one;
