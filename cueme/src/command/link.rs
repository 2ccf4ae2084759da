//! `cueme link`: connects this machine to a broker elsewhere, by a one-time code that its page shows, or over SSH.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use adapter_core::http::{Client, Error, Policy, client};
use clap::Args;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::Status;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::agent::runtime;
use crate::client::{
    Link, Side, Target, Token, addresses, check_remote, is_destination, is_loopback, parse_url, run_there,
    target,
};
use crate::error::CliError;
use crate::{environment, output};

/// The timeout for exchanging the code.
const EXCHANGE_WAIT_MAX: Duration = Duration::from_secs(30);
/// The path below which a code is exchanged.
const LINK_PATH: &str = "/link/";
/// The path of a sign-in link.
const LOGIN_PATH: &str = "/login/";

/// Arguments of `link`.
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// The broker's address, the whole sign-in link that its page shows, or user@host to go over SSH
    #[arg(value_name = "URL", required_unless_present_any = ["status", "remove"])]
    url: Option<String>,
    /// The one-time code; without it, cueme asks you for it
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Link your own verbs too: inbox, answer, decline, history and so on
    #[arg(long)]
    human: bool,
    /// Name of this machine in the broker's list of tokens
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Show which broker this machine is linked to, and whether it can be reached
    #[arg(long, conflicts_with_all = ["url", "code", "human", "name", "remove"])]
    status: bool,
    /// Remove the link, and use this machine's own broker again
    #[arg(long, conflicts_with_all = ["url", "code", "human", "name"])]
    remove: bool,
}

/// The tokens that the broker returns for a code.
#[derive(Debug, Deserialize)]
struct Linked {
    agent_token: Token,
    human_token: Option<Token>,
}

pub(super) fn run(args: &LinkArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    match &args.url {
        _ if args.status => status(&places),
        _ if args.remove => remove(&places),
        Some(destination) if is_destination(destination) => link_over_ssh(&places, destination, args),
        Some(url) => link(&places, url, args),
        None => Err(CliError::usage("the broker's address is missing")
            .with_hint("example: cueme link https://inbox.example.org")),
    }
}

fn link(places: &Places, written: &str, args: &LinkArgs) -> Result<Exit, CliError> {
    let (url, code) = split(written)?;
    let code = match args.code.clone().or(code) {
        Some(code) => code,
        None => ask_code(&url)?,
    };
    let linked = exchange(&url, code.trim(), args)?;
    let link = Link {
        url,
        agent_token: linked.agent_token,
        human_token: linked.human_token,
        ssh: None,
    };
    // The code is used up, so the tokens are kept even if the check fails.
    let path = link.write(places)?;
    check(&link).map_err(|error| {
        error.with_hint(format!(
            "the link is kept in {}: `cueme link --status` checks it again, `cueme link --remove` removes it; a proxy in \
             front of the broker has to forward the headers `Connection` and `Upgrade`",
            path.display()
        ))
    })?;
    tell_linked(&link, &path, args)
}

/// Links to the broker of a user on another machine; who may sign in there by SSH needs no code.
fn link_over_ssh(places: &Places, destination: &str, args: &LinkArgs) -> Result<Exit, CliError> {
    if args.code.is_some() {
        return Err(CliError::usage("no code is needed over SSH"));
    }
    let name = args.name.clone().unwrap_or_else(environment::machine);
    let mint = |scope: &str| {
        let words = ["token", "--scope", scope, "--name", &name];
        let printed = run_there(destination, &words)?;
        Token::parse(&printed).ok_or_else(|| {
            CliError::no_broker(format!("`cueme token` at {destination} printed no token"))
                .with_hint("update cueme there")
        })
    };
    let agent_token = mint("join")?;
    let human_token = args.human.then(|| mint("human")).transpose()?;
    let status = run_there(destination, &["broker", "status", "--json"])?;
    let web = serde_json::from_str::<Status>(&status)
        .ok()
        .and_then(|status| status.web);
    let url = web.and_then(|web| Url::parse(&web).ok()).ok_or_else(|| {
        CliError::no_broker(format!("the broker at {destination} serves no page"))
            .with_hint("remove `listen = \"off\"` from its configuration")
    })?;
    let link = Link {
        url,
        agent_token,
        human_token,
        ssh: Some(destination.to_owned()),
    };
    check(&link)?;
    let path = link.write(places)?;
    tell_linked(&link, &path, args)
}

/// Connects once, as agents of this machine will.
fn check(link: &Link) -> Result<(), CliError> {
    check_remote(&Target {
        url: link.url.clone(),
        token: link.agent_token.clone(),
        side: Side::Agent,
        ssh: link.ssh.clone(),
    })
}

fn tell_linked(link: &Link, path: &Path, args: &LinkArgs) -> Result<Exit, CliError> {
    let name = link.ssh.as_deref().unwrap_or(link.url.as_str());
    output::print_line(&format!("linked to {name}"))?;
    let whose = if args.human {
        "agents' and your own calls"
    } else {
        "agents' calls"
    };
    output::tell(&format!(
        "{whose} on this machine go there; the token is in {}",
        path.display()
    ));
    Ok(Exit::Done)
}

/// Takes a sign-in link apart into the broker's address and the code.
fn split(written: &str) -> Result<(Url, Option<String>), CliError> {
    let mut url = parse_url(written)?;
    let Some((base, code)) = url.path().split_once(LOGIN_PATH) else {
        return Ok((url, None));
    };
    let (base, code) = (format!("{base}/"), code.to_owned());
    url.set_path(&base);
    Ok((url, Some(code).filter(|code| !code.is_empty())))
}

fn ask_code(url: &Url) -> Result<String, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::usage("the one-time code is missing").with_hint(format!(
            "paste the link of the page's device settings: cueme link '{url}login/…'"
        )));
    }
    output::tell("on the page, open Settings, Devices, Add a device; paste the link or the code here:");
    let mut line = String::new();
    io::stdin()
        .read_line(&mut line)
        .map_err(|error| CliError::new(Exit::Io, format!("could not read the code: {error}")))?;
    let code = line.trim();
    Ok(code
        .rsplit_once(LOGIN_PATH)
        .map_or(code, |(_, code)| code)
        .to_owned())
}

fn exchange(url: &Url, code: &str, args: &LinkArgs) -> Result<Linked, CliError> {
    if Token::parse(code).is_none() || code.contains('/') {
        return Err(CliError::usage("this is not a one-time code")
            .with_hint("on the page, open Settings, Devices, Add a device"));
    }
    let address = format!("{}{LINK_PATH}{code}", url.as_str().trim_end_matches('/'));
    let name = args.name.clone().unwrap_or_else(environment::machine);
    let body = json!({"name": name, "human": args.human});
    let away = |error: &dyn std::fmt::Display| {
        CliError::no_broker(format!("could not reach the broker at {url}: {error}"))
            .with_hint("check the address, and that the broker runs")
    };
    runtime()?.block_on(async {
        let client = exchange_client(url).map_err(|error| away(&error))?;
        let sent = client.post(&address).json(&body).send().await;
        // The address holds the code.
        let answer = sent.map_err(|error| away(&error.without_url()))?;
        match answer.status().as_u16() {
            201 => answer.json().await.map_err(|error| away(&error.without_url())),
            401 => Err(CliError::usage("the code was used or is too old")
                .with_hint("on the page, open Settings, Devices, Add a device, for a new one")),
            300..=399 => Err(CliError::usage(format!(
                "{url} redirects to another address, which did not get the code"
            ))
            .with_hint("give the address to which it redirects")),
            status => Err(
                CliError::usage(format!("the broker at {url} refused with HTTP {status}"))
                    .with_hint("its `[web] url` or `[web] hosts` has to name this address"),
            ),
        }
    })
}

/// Builds the client that sends the code: to the address that was given, and over plain HTTP to this machine alone.
fn exchange_client(url: &Url) -> io::Result<Client> {
    let mut builder = client().timeout(EXCHANGE_WAIT_MAX).redirect(Policy::none());
    if is_loopback(url) {
        // A proxy would read the code, and resolve the name again.
        builder = builder.no_proxy();
        builder = builder.resolve_to_addrs(url.host_str().unwrap_or_default(), &addresses(url)?);
    }
    builder
        .build()
        .map_err(|error: Error| io::Error::other(error.without_url()))
}

fn status(places: &Places) -> Result<Exit, CliError> {
    let Some(target) = target(places, Side::Agent)? else {
        output::print_line("not linked: calls go to this machine's own broker")?;
        return Ok(Exit::NotFound);
    };
    check_remote(&target)?;
    let is_for_human = matches!(crate::client::target(places, Side::Human), Ok(Some(_)));
    let whose = if is_for_human {
        "agents and human"
    } else {
        "agents"
    };
    output::print_line(&format!("linked to {} ({whose}); it answers", target.name()))?;
    Ok(Exit::Done)
}

fn remove(places: &Places) -> Result<Exit, CliError> {
    if !Link::remove(places)? {
        output::print_line("not linked")?;
        return Ok(Exit::NotFound);
    }
    output::print_line(
        "the link is removed; `cueme token revoke` at the broker revokes the token of this machine",
    )?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_link_is_an_address_and_a_code() {
        let (url, code) = split("https://inbox.example/login/abc").unwrap();
        assert_eq!(
            (url.as_str(), code.as_deref()),
            ("https://inbox.example/", Some("abc"))
        );
        let (url, code) = split("https://host.example/inbox/login/abc").unwrap();
        assert_eq!(
            (url.as_str(), code.as_deref()),
            ("https://host.example/inbox/", Some("abc"))
        );
        let (url, code) = split("http://127.0.0.1:7070").unwrap();
        assert_eq!((url.as_str(), code), ("http://127.0.0.1:7070/", None));
        assert!(split("http://inbox.example/login/abc").is_err());
    }
}
