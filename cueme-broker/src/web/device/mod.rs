//! Devices that are signed in, links that sign one in, tokens of programs.

mod routes;

mod link;
mod list;
mod rename;
mod revoke;
mod token_list;
mod token_mint;
mod token_revoke;

pub(super) use list::DeviceShown;
pub(super) use routes::routes;
