//! Runs the Cursor agent CLI and turns its stream into contract events.
//!
//! Reading order: a [`line`], read as an [`object`], holds a [`scalar`] or a [`tool`], the [`text`] rule finds what is
//! new in it, and the [`normalise`] machine makes events of them, [`activity`] for watchers and [`evidence`] for the
//! HAP gate.
//! [`replay`] does that for a recorded stream; [`run`] for a live one, called by an [`invocation`], with [`recover`]
//! deciding what follows a failure, [`deadline`] whose time it is, [`resume`] proving that a chat was continued, and an [`agent`] putting it all
//! together.
//! [`probe`] asks the CLI about itself, and the [`doctor`] explains the answers. [`process`] holds what depends on the platform.

mod activity;
mod agent;
mod cancel;
mod deadline;
mod doctor;
mod evidence;
mod fault;
mod invocation;
mod line;
mod locate;
mod normalise;
mod object;
mod probe;
pub(crate) mod process;
mod question;
mod recover;
mod replay;
mod resume;
mod run;
mod scalar;
mod text;
mod tool;

pub use activity::{Activity, ActivityData, Phase};
pub use agent::CliAgent;
pub use cancel::{Cancelled, Canceller, cancellation};
pub use deadline::HumanTime;
pub use doctor::{
    Finding, Permissions, State, examine, examine_args, examine_chats, examine_custom, examine_key,
};
pub use evidence::{CallKind, CallRecord, Evidence, FINAL_TEXT_BYTES_MAX, ShellCommand};
pub use fault::{Exit, classify};
pub use invocation::{CliSpec, DEADLINE_DEFAULT, PROMPT_ARG_CHARS_MAX, TurnRequest};
pub use locate::{CLI_NAMES, locate};
pub use normalise::{Ending, Item, Normaliser, NormaliserOptions, Note, Sink};
pub use probe::{Probe, create_chat, login_status, models, probe, version};
pub use question::{AskQuestion, Question, QuestionOption};
pub use recover::{Attempt, Attempts, Decision, PROFILE_DEFAULT};
pub use replay::{EventWriter, ReplayOptions, replay};
pub use resume::{Resumption, check_chat};
pub use run::{Graces, TurnReport, run_turn};
