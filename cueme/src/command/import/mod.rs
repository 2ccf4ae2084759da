//! `cueme import`: brings over what the original cueme has recorded in `~/.cue/cue.db`.
//!
//! The source is only read. What is imported is past: a question that was open there is closed here, because whoever
//! waits for it waits there; run again after it was answered there, the import brings that answer too.

mod run;

mod source;

mod files;
mod translate;

pub(crate) use run::ImportArgs;
pub(super) use run::run;
