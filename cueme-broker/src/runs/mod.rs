//! Runs that adapters drive: their state, their drivers, and their callbacks.
//!
//! The broker drives no run itself. Drivers report here and follow their runs; webhooks and stop requests are passed on
//! to them. For a cloud run without a driver, the broker starts one.

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
pub(crate) use delivery::DeliveryError;
pub(crate) use followers::Followers;
pub(crate) use keep::RUNS_LISTED_MAX;
pub(crate) use lead::keep_leads;
pub(crate) use probe::{HEALTH_PATH, Probes};
pub(crate) use spawn::{Started, start_run, stop_in_cloud};
pub(crate) use takeover::{take_over, watch_orphaned_runs};
