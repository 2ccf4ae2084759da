//! `cueme init`: connects a runtime, shows how connections stand, and takes them out again.
//!
//! `runtimes::install` decides which files change; this module shows the plan, asks, and applies it.

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
