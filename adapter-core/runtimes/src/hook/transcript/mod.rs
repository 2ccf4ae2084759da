//! Reads the end of a host's transcript.
//!
//! A transcript can be hundreds of megabytes and is being written while it is read, so only its tail is read and lines
//! that do not parse are skipped. One file per host knows its records; [`tail`] knows none of them.

mod claude;
mod codex;
mod copilot;
mod entry;
mod follow;
mod gemini;
mod qwen;
mod result;
mod tail;

pub use follow::Follower;
pub use result::CallResult;
pub use tail::{TAIL_BYTES_MAX, Turn, read_turn, turn_of};
