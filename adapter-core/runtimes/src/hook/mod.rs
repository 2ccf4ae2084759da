//! Speaks with the hooks of every host.
//!
//! A host runs `cueme hook <runtime> <event>` with its own JSON on stdin and expects its own JSON on stdout. This
//! module decodes the input into one [`HookInput`] and encodes a [`HookReply`]. The command, which knows the broker,
//! decides the reply; nothing here asks a human. Only [`transcript`] reads a file.

pub mod cue_call;
pub mod input;
pub mod own_call;
pub mod reply;
pub mod transcript;

mod host;
pub mod mcp_tool;

pub use cue_call::{ToolCall, cued_agent, is_cue_call};
pub use input::{DecodeError, Event, HookInput, TurnStatus, decode};
pub use own_call::is_own_call;
pub use reply::{HookOutput, HookReply, encode};
pub use transcript::{CallResult, Follower, Turn, read_turn};
