//! What keeps a turn safe: secrets stay out of words, tools are known and their arguments valid.

mod redact;

pub use redact::{REDACTED, is_secret_name, redact, redact_with};
