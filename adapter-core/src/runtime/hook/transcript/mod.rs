//! Reads the end of a host's transcript.
//!
//! A transcript can be hundreds of megabytes and is being written while it is read, so only its tail is looked at and
//! whatever does not parse is skipped.

mod entry;
mod tail;

pub use tail::{TAIL_BYTES_MAX, Turn, read_turn, turn_of};
