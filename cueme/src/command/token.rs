//! `cueme token`: makes a key for a program that speaks to the broker over HTTP.

use protocol_spec::exit::Exit;
use protocol_spec::message::{MintToken, Request, TokenScope};

use crate::cli::{Scope, TokenArgs};
use crate::client::{call, expect_reply};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &TokenArgs) -> Result<Exit, CliError> {
    let scope = match (args.scope, &args.agent) {
        (Some(Scope::Join) | None, None) => TokenScope::Join,
        (Some(Scope::Human), None) => TokenScope::Human,
        (Some(Scope::Agent) | None, Some(_)) => TokenScope::Agent,
        (Some(Scope::Agent), None) => {
            return Err(CliError::usage("a token for one agent needs that agent")
                .with_hint("run `cueme token --agent bako-nefi`; `cueme agents` lists them"));
        }
        (Some(Scope::Join | Scope::Human), Some(_)) => {
            return Err(CliError::usage("only a token of scope `agent` is for one agent"));
        }
    };
    let mint = MintToken {
        scope,
        agent: args.agent.clone(),
        name: args.name.clone(),
    };
    let made = expect_reply!(call(&environment::places()?, &Request::Token(mint))?, Token)?;
    // Alone on stdout, so that a script can take it; it is shown this once.
    output::print_line(&made.token)?;
    output::tell(&format!(
        "send it as `Authorization: Bearer …` to {}; the page's API revokes it as {}",
        made.url, made.token_id
    ));
    Ok(Exit::Done)
}
