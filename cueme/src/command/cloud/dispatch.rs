//! Dispatches the subcommands of `cueme cloud`.

use protocol_spec::exit::Exit;

use super::{conversation, doctor, follow_up, launch, status, stop, watch};
use crate::cli::{CloudArgs, CloudVerb};
use crate::error::CliError;

/// Does what was asked of the cloud.
pub(in crate::command) fn run(args: &CloudArgs) -> Result<Exit, CliError> {
    match &args.verb {
        CloudVerb::Launch(args) => launch::run(args),
        CloudVerb::FollowUp(args) => follow_up::run(args),
        CloudVerb::Status(args) => status::run(args),
        CloudVerb::Conversation(args) => conversation::run(args),
        CloudVerb::Stop(args) => stop::run(args),
        CloudVerb::Watch(args) => watch::run(args),
        CloudVerb::Doctor(args) => doctor::run(args),
    }
}
