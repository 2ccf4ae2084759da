//! The command `cueme`: agents ask with it, humans answer with it, and the broker is one of its verbs.
//!
//! No path of a client starts an async runtime: a call is one connection, one write and blocking reads. Only the verbs
//! that drive agents, `cueme agent …` and `cueme cloud …`, run one.

mod cli;

mod client;
mod command;

mod dialogue;
mod display;

mod agent_output;
mod duration;
mod environment;
mod error;
mod host_session;
mod input;
mod log_file;
mod output;
mod process_tree;
mod runs;
mod tui;
mod version;
mod wording;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let ended = cli::parse().and_then(|cli| command::run(cli.verb, started));
    let exit = ended.unwrap_or_else(|error| error.report());
    ExitCode::from(exit.code())
}
