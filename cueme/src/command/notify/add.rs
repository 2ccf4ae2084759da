//! `cueme notify add`.

use std::io::{BufRead, IsTerminal};

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use toml_edit::{InlineTable, Table, value};

use super::file::{add, channels, keep_secret, secret_path};
use crate::cli::{ChannelWord, NotifyAddArgs};
use crate::error::CliError;
use crate::output;

/// The longest token.
const TOKEN_BYTES_MAX: usize = 4096;

pub(super) fn run(places: &Places, args: &NotifyAddArgs) -> Result<Exit, CliError> {
    let kind = word(args.kind);
    let name = args.name.clone().unwrap_or_else(|| kind.to_owned());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(CliError::usage(format!("{name:?} is no name for a channel"))
            .with_hint("use letters, digits, - and _"));
    }
    if channels(places)?.iter().any(|channel| channel.name == name) {
        return Err(CliError::usage(format!("there is a channel {name:?} already"))
            .with_hint(format!("run `cueme notify remove {name}` first, or add --name")));
    }
    let mut section = section(kind, &name, args)?;
    let keys = secret_keys(args);
    let secrets = read_secrets(keys)?;
    for (key, secret) in keys.iter().zip(&secrets) {
        let path = secret_path(places, &name, key);
        keep_secret(&path, secret)?;
        section[key] = value(format!("file:{}", path.display()));
    }
    if let Err(error) = add(places, section) {
        // Nothing refers to the tokens.
        for key in keys {
            let _ = std::fs::remove_file(secret_path(places, &name, key));
        }
        return Err(error);
    }
    output::print_line(&format!("added {name}; try it: cueme notify test {name}"))?;
    Ok(Exit::Done)
}

fn word(kind: ChannelWord) -> &'static str {
    match kind {
        ChannelWord::Telegram => "telegram",
        ChannelWord::Slack => "slack",
        ChannelWord::Ntfy => "ntfy",
        ChannelWord::Webhook => "webhook",
    }
}

fn secret_keys(args: &NotifyAddArgs) -> &'static [&'static str] {
    match args.kind {
        ChannelWord::Telegram => &["token"],
        ChannelWord::Slack => &["token", "app_token"],
        ChannelWord::Ntfy | ChannelWord::Webhook if args.with_token => &["token"],
        ChannelWord::Ntfy | ChannelWord::Webhook => &[],
    }
}

fn section(kind: &str, name: &str, args: &NotifyAddArgs) -> Result<Table, CliError> {
    let mut section = Table::new();
    section["kind"] = value(kind);
    section["name"] = value(name);
    let texts = [
        ("url", &args.url),
        ("chat", &args.chat),
        ("channel", &args.channel),
        ("replies", &args.replies),
        ("person", &args.person),
        ("after", &args.after),
        ("quiet", &args.quiet),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            section[key] = value(text.as_str());
        }
    }
    if args.no_preview {
        section["preview"] = value(false);
    }
    if !args.people.is_empty() {
        let mut people = InlineTable::new();
        for person in &args.people {
            let (id, name) = person
                .split_once('=')
                .filter(|(id, name)| !id.trim().is_empty() && !name.trim().is_empty())
                .ok_or_else(|| {
                    CliError::usage(format!("{person:?} names nobody")).with_hint("write --people 42=Ada")
                })?;
            people.insert(id.trim(), name.trim().into());
        }
        section["people"] = value(people);
    }
    Ok(section)
}

fn read_secrets(keys: &[&str]) -> Result<Vec<String>, CliError> {
    let stdin = std::io::stdin();
    if !keys.is_empty() && stdin.is_terminal() {
        output::tell(&format!("paste {}, one on each line:\n", keys.join(" and ")));
    }
    let mut secrets = Vec::with_capacity(keys.len());
    for key in keys {
        let mut line = String::new();
        let read = std::io::Read::take(&mut stdin.lock(), TOKEN_BYTES_MAX as u64).read_line(&mut line);
        read.map_err(|error| CliError::new(Exit::Io, format!("could not read the {key}: {error}")))?;
        let secret = line.trim();
        if secret.is_empty() {
            return Err(
                CliError::usage(format!("no {key} on stdin")).with_hint("write the tokens one on each line")
            );
        }
        secrets.push(secret.to_owned());
    }
    Ok(secrets)
}
