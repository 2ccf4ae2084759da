//! `cueme decline`: a human refuses to answer, which is a word too.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Decline, Request};

use super::decided;
use crate::cli::DeclineArgs;
use crate::environment;
use crate::error::CliError;
use crate::input::{text_of, words_of};

pub(super) fn run(args: &DeclineArgs) -> Result<Exit, CliError> {
    let decline = Decline {
        cue: args.cue_id.clone(),
        reason: text_of(&words_of(&args.reason, &args.rest), "the reason")?,
        by: environment::user(),
    };
    decided::send(&environment::places()?, &Request::Decline(decline))
}
