//! The state machine from stream to contract events.
//!
//! Bytes go in, items come out, and time plays no part. Malformed frames fail closed: a line that begins like JSON
//! and is not ends the turn with an error. Plain words on stdout are notices, never the assistant's text.
//!
//! Read in this order: the [`normaliser`] that takes bytes in each output format, the
//! [`state`] that every line changes, and then one file for each kind of line.

mod normaliser;
mod state;

mod call;
mod contract_line;
mod interaction;
mod result_line;

mod surrogate;

pub use normaliser::{Normaliser, NormaliserOptions};
