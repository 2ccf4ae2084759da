//! Runs that adapters drive: what is known of them, who drives them, and what reaches them from outside.
//!
//! The broker drives no run itself. Whoever does reports here and follows; webhooks and a human's wish to stop are passed
//! on to them. For a run in the cloud that nobody drives any more it starts a driver.

mod followers;
mod keep;
mod lead;

mod bootstrap;
mod delivery;
mod probe;
mod signing;

mod spawn;
mod takeover;

pub(crate) use bootstrap::Refusal;
pub(crate) use delivery::Undelivered;
pub(crate) use followers::Followers;
pub(crate) use keep::RUNS_LISTED_MAX;
pub(crate) use lead::keep_leads;
pub(crate) use probe::{HEALTH_PATH, Probes};
pub(crate) use spawn::{Started, start_run, stop_in_cloud};
pub(crate) use takeover::{look_after_left_runs, take_over};
