//! `cueme show`: one question whole.

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{CueView, Request, Show};

use crate::cli::ShowArgs;
use crate::client::{call, expect_reply};
use crate::display::{Paint, full, now};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &ShowArgs) -> Result<Exit, CliError> {
    let request = Request::Seen(Show {
        cue: args.cue_id.clone(),
    });
    let cue = expect_reply!(call(&environment::places()?, &request)?, Cue)?;
    let text = if args.json {
        output::json_line(&cue)?
    } else {
        full(&cue, now(), output::columns(), Paint::for_stdout())
    };
    if args.json {
        output::print_line(&text)?;
    } else {
        output::page(&format!("{text}\n"))?;
    }
    Ok(Exit::Done)
}

/// Returns the question with this id, or the one whose id begins so.
pub(super) fn find(places: &Places, cue: &str) -> Result<CueView, CliError> {
    let request = Request::Show(Show { cue: cue.to_owned() });
    Ok(*expect_reply!(call(places, &request)?, Cue)?)
}
