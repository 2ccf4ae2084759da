//! Pushes to the requesting device.

mod routes;

mod press;
mod state;
mod subscribe;
mod test;
mod unsubscribe;

pub(super) use routes::routes;
