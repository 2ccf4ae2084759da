//! The event contract: frames in, contract events out.
//!
//! Everything here is pure and incremental: bytes are fed in, values come out. Nothing is opened, spawned or
//! waited for, so the rules can be tested with any split of any input.

mod code;
mod event;
mod format;
mod frame;
mod turn;

pub use code::{ErrorCode, Recovery};
pub use event::{Done, ErrorData, Event, FINISH_STOP, Usage};
pub use format::OutputFormat;
pub use frame::{Frame, FrameError, Framer, LINE_BYTES_MAX};
pub use turn::{CancelMessage, Message, Role, SUPPORTED_VERSIONS, ToolSpec, Turn, supported_version};
