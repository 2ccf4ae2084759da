//! `cueme last`: the last answer an agent was given, once more.

use protocol_spec::exit::Exit;
use protocol_spec::message::{Last, Request};

use crate::cli::LastArgs;
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &LastArgs) -> Result<Exit, CliError> {
    let request = Request::Last(Last {
        agent: args.agent_id.clone(),
    });
    let cue = expect_reply!(call(&environment::places()?, &request)?, Cue)?;
    if args.json {
        output::print_json(&cue)?;
        return Ok(Exit::Done);
    }
    let Some(text) = &cue.text else {
        return Err(CliError::new(
            Exit::NotFound,
            format!("agent {} has not been answered yet", cue.agent_id),
        )
        .with_hint("`cueme inbox` lists what it asks"));
    };
    output::print_foreign(&format!("{}\n", text.strip_suffix('\n').unwrap_or(text)))?;
    Ok(Exit::Done)
}
