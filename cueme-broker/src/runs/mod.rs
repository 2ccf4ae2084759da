//! Runs that adapters drive: what is known of them, who drives them, and what reaches them from outside.
//!
//! The broker drives no run itself. Whoever does reports here and follows; webhooks and a human's wish to stop are passed
//! on to them.

mod followers;
mod keep;

mod bootstrap;
mod delivery;
mod signing;

mod spawn;

pub(crate) use bootstrap::Refusal;
pub(crate) use delivery::Undelivered;
pub(crate) use followers::Followers;
pub(crate) use keep::RUNS_LISTED_MAX;
pub(crate) use spawn::{Started, start_run};
