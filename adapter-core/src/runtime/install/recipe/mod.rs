//! What belongs into which file of a runtime.
//!
//! Places and shapes come from the facts; what we put there is decided here.

mod files;
mod hooks;
mod mcp;
mod notes;
mod permission;
mod programs;

pub use files::Role;
pub(super) use files::{Content, FileRecipe, recipe, recipe_of};
pub(super) use hooks::claude_parts as hook_parts;
pub(super) use notes::notes;
pub(super) use programs::signs;
