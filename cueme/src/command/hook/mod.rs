//! `cueme hook`: the one entry point for the hooks of every host.
//!
//! `runtimes::hook` knows the dialects of the hosts; this module decides the replies. Every failure
//! becomes a line in our log and a reply that changes nothing: a hook never breaks its host.

mod run;
mod verdict;

mod stop;

mod prompt_submit;
mod session_end;
mod session_start;

mod gate;
mod native_question;

mod agent;
mod close;
mod continuation;
mod host_process;
mod lease;
mod log;
mod turn_start;
mod waiting;

pub(crate) use run::HookArgs;
pub(super) use run::run;
