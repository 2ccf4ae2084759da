//! Guards of a turn: secrets are redacted, only known tools run with valid arguments, only public addresses are
//! visited.

mod address;
mod redact;
mod registry;

pub use address::is_public;
pub use redact::{REDACTED, is_secret_name, redact, redact_with};
pub use registry::{Registry, Text, Tool, ToolError, ToolFuture, ToolOutput, arguments};
