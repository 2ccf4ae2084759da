//! Notification channels, as `cueme notify` adds, tries, lists and removes them.
//!
//! Tokens come in and never go out. A value that names a variable or a file of this machine is refused here: a page could
//! otherwise send what the file holds to an address of its own.

mod routes;

mod add;
mod amend;
mod configure;
mod list;
mod remove;
mod test;

pub(super) use routes::routes;
