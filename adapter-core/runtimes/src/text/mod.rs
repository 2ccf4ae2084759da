//! The texts for agents: the HAP text and each runtime's guidance.
//!
//! The texts are Markdown files, compiled in. This module only selects and joins them.

mod protocol;

pub use protocol::{Language, guidance, protocol, rule};
