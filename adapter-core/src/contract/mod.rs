//! The contract between a runtime and its caller: frames in, events out, and the report of a turn.
//!
//! Everything here is pure and incremental: bytes are fed in, values come out. Nothing is opened, spawned or
//! waited for, so the rules can be tested with any split of any input.

mod code;
mod event;
mod format;
mod frame;
mod turn;

mod activity;
mod evidence;
mod item;
mod question;
mod report;

pub use activity::{Activity, ActivityData, Phase};
pub(crate) use activity::{detail, diff_of};
pub use code::{ErrorCode, Recovery};
pub use event::{Done, ErrorData, Event, FINISH_STOP, Usage};
pub use evidence::{CallKind, CallRecord, Evidence, FINAL_TEXT_BYTES_MAX, ShellCommand};
pub use format::OutputFormat;
pub use frame::{Frame, FrameError, Framer, LINE_BYTES_MAX};
pub use item::{Item, Note, Sink};
pub use question::{AskQuestion, Question, QuestionOption};
pub use report::{Ending, Exit, Resumption, TurnReport};
pub use turn::{CancelMessage, Message, Role, SUPPORTED_VERSIONS, ToolSpec, Turn, supported_version};
