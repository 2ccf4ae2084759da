//! The state of the inbox and its key bindings: events in, commands out, no clock and no input or output.

mod model;

mod body;
mod entry;
mod fold;
mod inbox;
mod keys;
mod layout;
mod mouse;
mod panel;
mod reply;

#[cfg(test)]
mod tests;

pub(super) use entry::Entry;
pub(super) use fold::shown;
pub(super) use layout::Layout;
pub(super) use model::{CallPurpose, Command, Connection, Event, Inbox, Mode, State};
pub(super) use panel::Panel;
