//! `cueme broker restart`: end the broker and start it again.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Nothing, Request};

use super::stop::stop;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places) -> Result<Exit, CliError> {
    let stopped = stop(places)?;
    let status = expect_reply!(call(places, &Request::Status(Nothing {}))?, Status)?;
    let word = if stopped.is_some() { "restarted" } else { "started" };
    output::print_line(&format!(
        "{word} the broker (pid {}, version {})",
        status.pid, status.version
    ))?;
    Ok(Exit::Done)
}
