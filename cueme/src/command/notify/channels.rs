//! Finds channels, and turns errors about them into those of the command.

use cueme_broker::notify::{Channel, ConfigureError};
use protocol_spec::endpoint::Places;
use protocol_spec::visible::quoted;

use crate::error::CliError;

/// Reads the channels of the configuration.
pub(super) fn channels(places: &Places) -> Result<Vec<Channel>, CliError> {
    cueme_broker::notify::channels(places).map_err(cli_error)
}

/// Finds a channel by its name.
pub(super) fn find(places: &Places, name: &str) -> Result<Channel, CliError> {
    let channels = channels(places)?;
    let known: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
    let found = channels.into_iter().find(|channel| channel.name == name);
    found.ok_or_else(|| {
        let error = CliError::usage(format!("there is no channel {}", quoted(name)));
        if known.is_empty() {
            error.with_hint("`cueme notify add --help` shows how to add one")
        } else {
            error.with_hint(format!("channels: {}", known.join(", ")))
        }
    })
}

/// Turns the reason why the configuration was not changed into the error of the command.
pub(super) fn cli_error(error: ConfigureError) -> CliError {
    match error {
        ConfigureError::Io { doing, path, source } => CliError::io(doing, &path, &source),
        ConfigureError::Wrong(_) | ConfigureError::Unknown(_) => CliError::usage(error.to_string()),
    }
}
