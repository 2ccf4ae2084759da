//! What connects a runtime, as the page tells somebody who has no agent yet.
//!
//! The broker knows no runtime's files: the command that starts it brings a function that tells what `cueme init` writes.

use schemars::JsonSchema;
use serde::Serialize;

/// How one runtime is connected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuntimeGuide {
    /// The tag its agents join with.
    pub runtime: String,
    /// The name a person knows it by.
    pub name: String,
    /// The command that connects it.
    pub command: String,
    /// What that command writes.
    pub files: Vec<GuideFile>,
}

/// A file that is written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GuideFile {
    /// Where it is; `~` is the home.
    pub path: String,
    /// What is written there.
    pub what: String,
}

/// Tells how each runtime is connected, in the order they are offered.
pub type Guide = fn() -> Vec<RuntimeGuide>;
