//! `cueme cancel`: a question is closed without an answer, and its agent is told.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Cancel, Request};

use super::decided;
use crate::cli::CancelArgs;
use crate::environment;
use crate::error::CliError;
use crate::input::{text_of, words_of};

pub(super) fn run(args: &CancelArgs) -> Result<Exit, CliError> {
    let cancel = Cancel {
        cue: args.cue_id.clone(),
        reason: text_of(&words_of(&args.reason, &args.rest), "the reason")?,
        by: environment::user(),
    };
    decided::send(&environment::places()?, &Request::Cancel(cancel))
}
