//! `cueme import`: brings over what the original cueme has recorded in `~/.cue/cue.db`.
//!
//! The source is only read. An imported question is past: one that was open there is closed here, because its agent
//! waits there; run again after it was answered there, the import brings that answer too.

mod run;

mod source;

mod files;
mod translate;

pub(crate) use run::ImportArgs;
pub(super) use run::run;
