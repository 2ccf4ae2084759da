//! Dispatches the subcommands of `cueme agent`.

use protocol_spec::exit::Exit;

use super::{doctor, models, new_chat, replay, run as turn};
use crate::cli::{AgentArgs, AgentVerb};
use crate::error::CliError;

/// Does what was asked of the agent.
pub(in crate::command) fn run(args: &AgentArgs) -> Result<Exit, CliError> {
    match &args.verb {
        AgentVerb::Run(args) => turn::run(args),
        AgentVerb::Replay(args) => replay::run(args),
        AgentVerb::Models(args) => models::run(args),
        AgentVerb::Doctor(args) => doctor::run(args),
        AgentVerb::NewChat(args) => new_chat::run(args),
    }
}
