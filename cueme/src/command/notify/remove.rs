//! `cueme notify remove`.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use cueme_broker::notify::remove_channel;

use super::channels::{cli_error, find};
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, name: &str) -> Result<Exit, CliError> {
    find(places, name)?;
    remove_channel(places, name).map_err(cli_error)?;
    output::print_line(&format!("removed {name}"))?;
    Ok(Exit::Done)
}
