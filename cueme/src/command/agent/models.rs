//! `cueme agent models`: what `--model` can name.

use adapter_core::cursor::cli::models;
use protocol_spec::exit::Exit;

use super::failed::failed;
use super::setup::{command_of, load_config, program, runtime};
use crate::cli::AgentModelsArgs;
use crate::display::visible_line;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &AgentModelsArgs) -> Result<Exit, CliError> {
    let config = load_config(&environment::places()?)?;
    let program = program(&command_of(&config)?)?;
    let lines = runtime()?
        .block_on(models(&program))
        .map_err(|error| failed(&error))?;
    if args.json {
        output::print_json(&lines)?;
    } else {
        for line in &lines {
            output::print_line(&visible_line(line))?;
        }
    }
    Ok(Exit::Done)
}
