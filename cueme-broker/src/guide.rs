//! The instructions to connect each runtime, for a person who has no agent yet.
//!
//! The broker knows no runtime's files: the command that starts it passes a function that describes what `cueme init`
//! writes.

use schemars::JsonSchema;
use serde::Serialize;

/// The instructions to connect one runtime.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuntimeGuide {
    /// The tag its agents join with.
    pub runtime: String,
    /// The name a person knows it by.
    pub name: String,
    /// The command that connects it.
    pub command: String,
    /// The files that the command writes.
    pub files: Vec<GuideFile>,
}

/// A file that the command writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GuideFile {
    /// Its path; `~` is the home.
    pub path: String,
    /// A description of its content, in English.
    pub what: String,
    /// The parts of the installation in it: `rule`, `permission`, `hooks`, `mcp`.
    pub roles: Vec<String>,
}

/// A function that returns the instructions for each runtime, in the order they are offered.
pub type Guide = fn() -> Vec<RuntimeGuide>;
