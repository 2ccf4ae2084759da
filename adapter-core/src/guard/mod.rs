//! What keeps a turn safe: secrets stay out of words, tools are known and their arguments valid, addresses public.

mod address;
mod redact;
mod registry;

pub use address::is_public;
pub use redact::{REDACTED, is_secret_name, redact, redact_with};
pub use registry::{Registry, Text, Tool, ToolError, ToolFuture, ToolOutput, arguments};
