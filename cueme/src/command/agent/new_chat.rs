//! `cueme agent new-chat`: an empty chat to continue with `--resume`.

use adapter_core::cursor::cli::create_chat;
use protocol_spec::exit::Exit;

use super::failed::failed;
use super::setup::{command_of, directory, load_config, program, runtime};
use crate::cli::AgentNewChatArgs;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &AgentNewChatArgs) -> Result<Exit, CliError> {
    let config = load_config(&environment::places()?)?;
    let program = program(&command_of(&config)?)?;
    let cwd = directory(args.cwd.as_deref())?;
    let id = runtime()?
        .block_on(create_chat(&program, Some(&cwd)))
        .map_err(|error| failed(&error))?;
    output::print_line(&id)?;
    Ok(Exit::Done)
}
