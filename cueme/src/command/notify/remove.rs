//! `cueme notify remove`.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;

use super::file::{channels, find, remove, secret_path};
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, name: &str) -> Result<Exit, CliError> {
    find(places, name)?;
    let place = channels(places)?.iter().position(|channel| channel.name == name);
    remove(places, place.unwrap_or_default())?;
    for key in ["token", "app_token"] {
        let path = secret_path(places, name, key);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CliError::io("remove", &path, &error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    output::print_line(&format!("removed {name}"))?;
    Ok(Exit::Done)
}
