//! `cueme token`: makes, lists and revokes keys for programs that speak to the broker over HTTP.

use protocol_spec::exit::Exit;
use protocol_spec::message::{MintToken, Nothing, Request, RevokeToken, TokenScope, TokenView};
use protocol_spec::time::format_span;

use crate::cli::{Scope, TokenArgs, TokenVerb};
use crate::client::{call, expect_reply};
use crate::display::{ago, now, pad, visible_line};
use crate::duration::parse_duration;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &TokenArgs) -> Result<Exit, CliError> {
    match &args.verb {
        None => make(args),
        Some(TokenVerb::List { json }) => list(*json),
        Some(TokenVerb::Revoke { token }) => revoke(token),
    }
}

fn make(args: &TokenArgs) -> Result<Exit, CliError> {
    let scope = match (args.scope, &args.agent) {
        (Some(Scope::Join) | None, None) => TokenScope::Join,
        (Some(Scope::Human), None) => TokenScope::Human,
        (Some(Scope::Agent) | None, Some(_)) => TokenScope::Agent,
        (Some(Scope::Agent), None) => {
            return Err(CliError::usage("a token of scope `agent` needs --agent")
                .with_hint("run `cueme token --agent bako-nefi`; `cueme agents` lists them"));
        }
        (Some(Scope::Join | Scope::Human), Some(_)) => {
            return Err(
                CliError::usage("--agent needs scope `agent`").with_hint("leave out --scope or --agent")
            );
        }
    };
    let life = args.expires.as_deref().map(parse_duration).transpose()?;
    let mint = MintToken {
        scope,
        agent: args.agent.clone(),
        name: args.name.clone(),
        expires_in_ms: life.map(|life| u64::try_from(life.as_millis()).unwrap_or(u64::MAX)),
    };
    let places = environment::places()?;
    let made = expect_reply!(call(&places, &Request::Token(mint))?, Token)?;
    if life.is_some() && made.expires_at.is_none() {
        // An older broker overlooks the expiry; a token that nobody wanted to last must not stay.
        let unwanted = RevokeToken { token: made.token_id };
        expect_reply!(call(&places, &Request::RevokeToken(unwanted))?, TokenRevoked)?;
        return Err(CliError::usage("the broker is too old for tokens that expire")
            .with_hint("run `cueme broker restart`"));
    }
    // Alone on stdout, so that a script can take it; it is shown this once.
    output::print_line(&made.token)?;
    output::tell(&format!(
        "send it as `Authorization: Bearer …` to {}; `cueme` takes it from CUEME_TOKEN; `cueme token revoke {}` revokes it{}",
        made.url,
        made.token_id,
        made.expires_at
            .map(|at| format!("; it expires at {at}"))
            .unwrap_or_default()
    ));
    Ok(Exit::Done)
}

fn list(json: bool) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let tokens = expect_reply!(call(&places, &Request::Tokens(Nothing {}))?, Tokens)?.tokens;
    if json {
        output::print_json(&tokens)?;
    } else if tokens.is_empty() {
        output::print_line("there are no tokens; `cueme token` creates one")?;
    }
    for token in tokens.iter().filter(|_| !json) {
        output::print_line(&line(token))?;
    }
    Ok(Exit::Done)
}

fn line(token: &TokenView) -> String {
    let scope = match token.scope {
        TokenScope::Join => "join".to_owned(),
        TokenScope::Human => "human".to_owned(),
        TokenScope::Agent => match &token.agent_id {
            Some(agent) => format!("agent {agent}"),
            None => "agent".to_owned(),
        },
    };
    let name = token.name.as_deref().map(visible_line).unwrap_or_default();
    let made = ago(now(), token.created_at);
    let used = match token.used_at {
        Some(at) => format!("used {}", ago(now(), at)),
        None => "not used".to_owned(),
    };
    let life = match token.expires_at {
        Some(at) if at <= now() => "expired".to_owned(),
        Some(at) => format!("expires in {}", format_span(at.millis_since(now()))),
        None => "does not expire".to_owned(),
    };
    let (scope, used) = (pad(&scope, 16), pad(&used, 14));
    format!("{}  {scope}  made {made}  {used}  {life}  {name}", token.token_id)
        .trim_end()
        .to_owned()
}

fn revoke(token: &str) -> Result<Exit, CliError> {
    let wanted = RevokeToken {
        token: token.to_owned(),
    };
    let reply = call(&environment::places()?, &Request::RevokeToken(wanted))?;
    let revoked = expect_reply!(reply, TokenRevoked)?;
    output::print_line(&format!("revoked {}", revoked.token_id))?;
    Ok(Exit::Done)
}
