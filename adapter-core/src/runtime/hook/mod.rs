//! Speaks with the hooks of every host.
//!
//! A host runs `cueme hook <runtime> <event>` with its own JSON on stdin and wants its own JSON on stdout. Here that
//! is decoded into one [`HookInput`] and a [`HookReply`] is encoded back. What to reply is decided by the command,
//! which knows the broker; nothing here asks anybody. Only [`transcript`] reads a file.

pub mod cue_call;
pub mod input;
pub mod own_call;
pub mod reply;
pub mod transcript;

mod host;
pub(crate) mod mcp_tool;

pub use cue_call::{ToolCall, cued_agent, is_cue_call};
pub use input::{DecodeError, Event, HookInput, TurnStatus, decode};
pub use own_call::is_own_call;
pub use reply::{HookOutput, HookReply, encode};
pub use transcript::{CallResult, Follower, Turn, read_turn};
