//! Selects the broker for this machine: its own, or a remote one that the environment or `cueme link` names.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use protocol_spec::endpoint::Places;
use protocol_spec::message::Request;
use protocol_spec::visible::quoted;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::ssh::is_destination;
use super::trust::check_secret_file;
use crate::environment;
use crate::error::CliError;

/// The variable that names the address of a broker elsewhere.
const URL_VARIABLE: &str = "CUEME_URL";
/// The variable that holds the token for it.
const TOKEN_VARIABLE: &str = "CUEME_TOKEN";
/// The file of `cueme link`, beside the configuration.
const LINK_FILE: &str = "link.json";
/// The longest token, in bytes.
const TOKEN_BYTES_MAX: usize = 256;

/// A broker elsewhere, and the token for one side of it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) token: Token,
    /// The side whose calls go there.
    pub(crate) side: Side,
    /// The machine over which SSH leads there; the address is as that machine sees it.
    pub(crate) ssh: Option<String>,
}

impl Target {
    /// Returns how messages call it.
    pub(crate) fn name(&self) -> &str {
        self.ssh.as_deref().unwrap_or(self.url.as_str())
    }
}

/// A token, which no error and no log shows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Token(String);

impl Token {
    /// Takes what could be a token: something that a header can hold.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = !text.is_empty()
            && text.len() <= TOKEN_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_owned()))
    }

    /// Returns the token, for the broker that made it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// The side of a call: an agent and a human have tokens of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Agent,
    Human,
}

impl Side {
    /// Returns whose request this is.
    pub(super) fn of(request: &Request) -> Self {
        match request {
            Request::Hello(_)
            | Request::Join(_)
            | Request::Bind(_)
            | Request::Recall(_)
            | Request::Ask(_)
            | Request::Attach(_)
            | Request::Ack(_)
            | Request::Rest(_)
            | Request::Receipts(_)
            | Request::Collect(_) => Self::Agent,
            _ => Self::Human,
        }
    }
}

/// The stored link of `cueme link`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The broker's address.
    pub(crate) url: Url,
    /// For agents on this machine.
    pub(crate) agent_token: Token,
    /// For the human's verbs on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) human_token: Option<Token>,
    /// The machine over which SSH leads to the address, which is as that machine sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ssh: Option<String>,
}

impl Link {
    /// Reads the link of this machine, if it has one.
    pub(crate) fn read(places: &Places) -> Result<Option<Self>, CliError> {
        let path = path(places);
        check_secret_file(&path)?;
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                CliError::usage(format!("{} cannot be read: {error}", path.display()))
                    .with_hint("run `cueme link --remove`, then `cueme link` again")
            }),
            // A place of somebody else, or none at all, is refused with its reason where the broker is looked for.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(CliError::io("read", &path, &error)),
        }
    }

    /// Keeps the link, readable for this user alone.
    pub(crate) fn write(&self, places: &Places) -> Result<PathBuf, CliError> {
        let path = path(places);
        let failed = |error: io::Error| CliError::io("write", &path, &error);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
        let unfinished = path.with_extension("json.new");
        // One that is left over may be open to others, and a mode is given to new files alone.
        let _ = std::fs::remove_file(&unfinished);
        let mut file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&unfinished)
            .map_err(failed)?;
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        std::fs::rename(&unfinished, &path).map_err(failed)?;
        Ok(path)
    }

    /// Forgets the link; returns whether there was one.
    pub(crate) fn remove(places: &Places) -> Result<bool, CliError> {
        let path = path(places);
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(CliError::io("remove", &path, &error)),
        }
    }
}

/// Returns the broker elsewhere that this call goes to; none where the broker is this machine's own.
pub(crate) fn target(places: &Places, side: Side) -> Result<Option<Target>, CliError> {
    if let Some(url) = environment::variable(URL_VARIABLE) {
        return from_environment(&url, side).map(Some);
    }
    let Some(link) = Link::read(places)? else {
        return Ok(None);
    };
    let ssh = link.ssh.filter(|destination| is_destination(destination));
    let url = match ssh {
        Some(_) => link.url,
        None => check_url(link.url)?,
    };
    let token = match side {
        Side::Agent => link.agent_token,
        Side::Human => link.human_token.ok_or_else(|| {
            let name = ssh.as_deref().unwrap_or(url.as_str());
            CliError::usage(format!("this machine is linked to {name} for agents only"))
                .with_hint(format!("answer on the page, or run `cueme link {name} --human`"))
        })?,
    };
    Ok(Some(Target {
        url,
        token,
        side,
        ssh,
    }))
}

fn from_environment(url: &str, side: Side) -> Result<Target, CliError> {
    let url = parse_url(url)?;
    let token = environment::variable(TOKEN_VARIABLE).ok_or_else(|| {
        CliError::usage(format!("{URL_VARIABLE} is set and {TOKEN_VARIABLE} is not"))
            .with_hint("`cueme token` prints a token where the broker runs")
    })?;
    let token = Token::parse(&token).ok_or_else(|| {
        CliError::usage(format!("{TOKEN_VARIABLE} is not a token"))
            .with_hint("`cueme token` prints a token where the broker runs")
    })?;
    Ok(Target {
        url,
        token,
        side,
        ssh: None,
    })
}

/// Reads the address of a broker.
pub(crate) fn parse_url(text: &str) -> Result<Url, CliError> {
    let url = Url::parse(text.trim()).map_err(|error| {
        CliError::usage(format!("{} is not an address: {error}", quoted(&redacted(text)))).with_hint(EXAMPLE)
    })?;
    check_url(url)
}

const EXAMPLE: &str = "example: https://inbox.example.org";

/// A token is sent to it, so nobody on the way may read along.
fn check_url(url: Url) -> Result<Url, CliError> {
    let wrong = |why: &str| {
        let shown = redacted(url.as_str());
        Err(CliError::usage(format!("{shown}: {why}")).with_hint(EXAMPLE))
    };
    if url.host().is_none() {
        return wrong("the address names no host");
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return wrong("an address has no user, password or query");
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => wrong("plain HTTP is for the loopback interface only; use https"),
        _ => wrong("the address begins with https"),
    }
}

/// Returns an address for messages: without a user, a password, a query, and the code of a sign-in link.
fn redacted(address: &str) -> String {
    let start = address.find("://").map_or(0, |end| end + "://".len());
    let (scheme, rest) = address.split_at(start);
    // A password may have any character, where the address is not one that can be parsed.
    let rest = match rest.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => rest.to_owned(),
    };
    let end = ["/login/", "?", "#"]
        .into_iter()
        .filter_map(|mark| Some(rest.find(mark)? + mark.len()))
        .min();
    match end {
        Some(end) => format!("{scheme}{}…", &rest[..end]),
        None => format!("{scheme}{rest}"),
    }
}

/// Says whether an address leads to this machine by its name.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn path(places: &Places) -> PathBuf {
    places.config.with_file_name(LINK_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_plain_http_to_this_machine_alone() {
        for good in [
            "https://inbox.example",
            "http://127.0.0.1:7070",
            "http://[::1]:1",
            "http://localhost:9",
        ] {
            assert!(parse_url(good).is_ok(), "{good}");
        }
        for bad in [
            "http://inbox.example",
            "http://10.0.0.1",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "ftp://inbox.example",
            "https://user:secret@inbox.example",
            "https://inbox.example/?x=1",
            "inbox.example",
        ] {
            assert!(parse_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_error_about_an_address_shows_no_secret_of_it() {
        for (address, shown) in [
            (
                "http://inbox.example/login/SECRET",
                "http://inbox.example/login/…",
            ),
            (
                "https://SECRET:SECRET@inbox.example/x",
                "https://…@inbox.example/x",
            ),
            ("https://inbox.example/?token=SECRET", "https://inbox.example/?…"),
            ("https://inbox.example/#SECRET", "https://inbox.example/#…"),
            ("SECRET:SECRET@inbox.example", "…@inbox.example"),
            ("http://me:SECRET/SECRET@inbox.example", "http://…@inbox.example"),
            ("inbox.example/login/SECRET", "inbox.example/login/…"),
            (
                "https://inbox example/login/SECRET",
                "https://inbox example/login/…",
            ),
            (
                "ftp://SECRET@inbox.example/login/SECRET?SECRET",
                "ftp://…@inbox.example/login/…",
            ),
        ] {
            assert_eq!(redacted(address), shown);
            let refused = parse_url(address).err().map(|error| error.to_string());
            assert!(!refused.unwrap_or_default().contains("SECRET"), "{address}");
        }
    }

    #[test]
    fn a_token_cannot_end_its_header() {
        assert!(Token::parse("abc\r\nX: 1").is_none());
        assert!(Token::parse("").is_none());
        assert!(Token::parse(&"a".repeat(TOKEN_BYTES_MAX + 1)).is_none());
        assert_eq!(format!("{:?}", Token::parse("secret")), "Some(Token(…))");
    }
}
