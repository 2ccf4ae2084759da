//! `cueme notify test`: sends a message that says it is a test.

use cueme_broker::notify::{Notice, Sender};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::visible::quoted;

use super::channels::find;
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, name: &str) -> Result<Exit, CliError> {
    let channel = find(places, name)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Exit::Io, format!("could not start: {error}")))?;
    let sent = runtime.block_on(Sender::default().send(&channel, &Notice::test()));
    sent.map_err(|error| {
        CliError::new(Exit::Io, format!("{name} was not reached: {error}")).with_hint(format!(
            "check the section {} in {}",
            quoted(name),
            places.config.display()
        ))
    })?;
    output::print_line(&format!("sent a test to {name}"))?;
    Ok(Exit::Done)
}
