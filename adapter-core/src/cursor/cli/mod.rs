//! Runs the Cursor agent CLI and turns its stream into contract events.
//!
//! Reading order: a [`line`], read as an [`object`], holds a [`scalar`] or a [`tool`], the [`text`] rule finds what is
//! new in it, and the [`normalise`] machine makes events of them, activity for watchers and evidence for the HAP gate.
//! [`replay`] does that for a recorded stream; [`run`] for a live one, called by an [`invocation`], with [`recover`]
//! deciding what follows a failure, [`resume`] proving that a chat was continued, and an [`agent`] putting it all together.
//! [`probe`] asks the CLI about itself, and the [`doctor`] explains the answers.

mod agent;
mod call_kind;
mod doctor;
mod fault;
mod hint;
mod invocation;
mod line;
mod normalise;
mod object;
mod probe;
mod question;
mod recover;
mod replay;
mod resume;
mod run;
mod scalar;
mod text;
mod tool;

pub use agent::CliAgent;
pub use doctor::{
    Finding, Permissions, State, examine, examine_args, examine_chats, examine_custom, examine_key,
};
pub use fault::classify;
pub(crate) use fault::exit_error;
pub use invocation::{CliSpec, DEADLINE_DEFAULT, PROMPT_ARG_CHARS_MAX, TurnRequest};
pub use normalise::{Normaliser, NormaliserOptions};
pub use probe::{Probe, create_chat, login_status, missing_options, models, offers_acp, probe, version};
pub use recover::{Attempt, Attempts, Decision, PROFILE_DEFAULT};
pub use replay::{EventWriter, ReplayOptions, replay};
pub use resume::check_chat;
pub use run::run_turn;
