//! Drafts. The broker stores them, so that they are there on the next device.

mod routes;

mod drop;
mod keep;
mod secrets;

pub(super) use routes::routes;
pub(super) use secrets::without_secrets;
