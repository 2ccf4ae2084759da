//! Dispatches the subcommands of `cueme broker`.

use protocol_spec::exit::Exit;

use super::{install, logs, restart, run as serve, status, stop};
use crate::cli::{BrokerArgs, BrokerVerb};
use crate::environment;
use crate::error::CliError;

/// Does what was asked of the broker.
pub(in crate::command) fn run(args: &BrokerArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    match args.verb {
        BrokerVerb::Run { background } => serve::run(places, background),
        BrokerVerb::Status { json } => status::run(&places, json),
        BrokerVerb::Stop => stop::run(&places),
        BrokerVerb::Restart => restart::run(&places),
        BrokerVerb::Logs { lines, follow } => logs::run(&places, lines, follow),
        BrokerVerb::Install { dry_run, remove } => install::run(dry_run, remove),
    }
}
