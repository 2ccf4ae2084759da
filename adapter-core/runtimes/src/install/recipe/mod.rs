//! The content of each file of a runtime.
//!
//! The facts give places and shapes; this module decides what we write there.

mod files;
mod hooks;
mod mcp;
mod notes;
mod permission;
mod programs;

pub use files::Role;
pub(super) use files::{Content, FileRecipe, recipe, recipe_of};
pub(super) use hooks::hook_parts;
pub(super) use notes::notes;
pub(super) use programs::signs;
