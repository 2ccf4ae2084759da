//! The command `cueme`: agents ask with it, humans answer with it, and the broker is one of its verbs.
//!
//! No path of a client starts an async runtime: a call is one connection, one write and blocking reads. Only the verbs
//! that drive agents, `cueme agent …` and `cueme cloud …`, run one.
//!
//! The crates of the workspace, each without the ones above it:
//!
//! - [`cueme_broker`]: the broker: engine, socket, web inbox and API, notifications, policies. Below it are
//!   `cueme_rules`, the pure transitions of one agent's questions, and [`cueme_store`], the traits of a store, with
//!   the stores [`cueme_store_sqlite`] and [`cueme_store_postgres`] and [`cueme_store_copy`] between them.
//! - [`adapter_core`]: the agents that cueme drives. Below it is [`runtimes`]: facts about runtimes, installation into
//!   them, and the dialects of their hooks.
//! - `cloud_settings` and [`runtime_settings`]: sections of the configuration that several crates read.
//! - [`protocol_spec`]: the contract that all of them share: questions, answers, wire messages, ids.
//!
//! `CONTRIBUTING.md` walks one question, one answer and one turn through the files.

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
