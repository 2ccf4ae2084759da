//! `cueme init`: connects a runtime, shows how connections stand, and takes them out again.
//!
//! What belongs where is known by `adapter_core::runtime::install`; here a person is shown it, asked, and obeyed.

mod args;
mod run;

mod connection;
mod machine;

mod consent;
mod runtime_settings;

mod plugin;
mod table;

pub(crate) use args::InitArgs;
pub(super) use args::parse_runtime;
pub(super) use connection::{Connection, all_connections};
pub(super) use machine::Machine;
pub(super) use run::run;
