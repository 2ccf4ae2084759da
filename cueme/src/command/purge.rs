//! `cueme purge`: delete questions that were settled long ago.

use std::time::Duration;

use cueme_broker::config::Config;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{Purge, Request};
use protocol_spec::visible::quoted;

use crate::cli::PurgeArgs;
use crate::client::{call, expect_reply};
use crate::duration::parse_duration;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &PurgeArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let age = age(args, &places)?;
    let request = Request::Purge(Purge {
        older_than_ms: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        dry_run: args.dry_run,
    });
    let cues = expect_reply!(call(&places, &request)?, Purged)?.cues;
    let (verb, hint) = if args.dry_run {
        ("would delete", "; nothing was changed")
    } else {
        ("deleted", "")
    };
    let noun = if cues == 1 { "question" } else { "questions" };
    output::print_line(&format!("{verb} {cues} {noun}{hint}"))?;
    Ok(Exit::Done)
}

fn age(args: &PurgeArgs, places: &Places) -> Result<Duration, CliError> {
    let missing = || {
        CliError::usage(
            "the age is missing: there is neither --older-than nor a `retention` in the configuration",
        )
        .with_hint("run `cueme purge --older-than 90d --dry-run` to see what it would delete")
    };
    let age = match &args.older_than {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) && text != "0" => {
            return Err(CliError::usage(format!("{} has no unit", quoted(text)))
                .with_hint(format!("run `cueme purge --older-than {text}d` if you mean days")));
        }
        Some(text) => parse_duration(text)?,
        None => Config::load(&places.config)
            .map_err(|error| CliError::usage(error.to_string()))?
            .retention
            .ok_or_else(missing)?,
    };
    Ok(age)
}
