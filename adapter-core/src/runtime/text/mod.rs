//! What agents are told: the HAP text and each runtime's guidance.
//!
//! The words are Markdown files, compiled in. This module only picks and joins them.

mod protocol;

pub use protocol::{Language, RULE_BYTES_MAX, guidance, protocol, rule};
