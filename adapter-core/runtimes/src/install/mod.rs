//! Installs cueme into a runtime, and takes it out again.
//!
//! A plan is a value: which files would change, from what to what, and why. It is made from the files' contents alone,
//! so it can be shown, tested and refused; only [`apply()`] reads and writes. Suggested reading order: what is asked
//! ([`request`]), what belongs where (`recipe`), how it is put into a file (`managed_block`, `json`, `toml`,
//! `own_file`), what comes out ([`mod@plan`]).

pub mod apply;
pub mod diff;
pub mod plan;
pub mod plugin;
pub mod record;
pub mod request;

mod choices;
mod command_line;
mod error;
mod json;
mod managed_block;
mod own_file;
mod recipe;
mod toml;

pub use apply::{apply, read};
pub use choices::choices;
pub use error::{ApplyError, Problem};
pub use plan::{FileEdit, PartStatus, Plan, Refusal, Status, files, part_status, plan, remarks, status};
pub use plugin::{PLUGIN_MANIFEST, is_our_plugin, plugin};
pub use recipe::Role;
pub use record::{Record, RecordedFile, Snapshot};
pub use request::{Extras, Paths, Request, Scope, Wish, binary_for};
