//! `cueme notify`: channels in the configuration, and their tokens in files beside the data.

mod add;
mod channels;
mod list;
mod remove;
mod test;

use protocol_spec::exit::Exit;

use crate::cli::{NotifyArgs, NotifyVerb};
use crate::environment;
use crate::error::CliError;

pub(super) fn run(args: &NotifyArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    match &args.verb {
        NotifyVerb::Add(args) => add::run(&places, args),
        NotifyVerb::Test { name } => test::run(&places, name),
        NotifyVerb::List { json } => list::run(&places, *json),
        NotifyVerb::Remove { name } => remove::run(&places, name),
    }
}
