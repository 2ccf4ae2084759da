//! Runs the Cursor agent CLI and turns its stream into contract events.
//!
//! Reading order: a [`line`] holds a [`scalar`] or a [`tool`], the [`text`] rule finds what is new in it, and the
//! [`normalise`] state machine makes events of them, [`activity`] for watchers and [`evidence`] for the HAP gate.
//! [`replay`] does that for a recorded stream.

mod activity;
mod evidence;
mod fault;
mod line;
mod normalise;
mod question;
mod replay;
mod scalar;
mod text;
mod tool;

pub use activity::{Activity, ActivityData, Phase};
pub use evidence::{CallKind, CallRecord, Evidence, FINAL_TEXT_BYTES_MAX, ShellCommand};
pub use fault::{Exit, classify};
pub use normalise::{Ending, Item, Normaliser, NormaliserOptions, Note, Sink};
pub use question::{AskQuestion, Question, QuestionOption};
pub use replay::{EventWriter, ReplayOptions, replay};
