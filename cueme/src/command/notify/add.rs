//! `cueme notify add`.

use std::io::{BufRead, IsTerminal};

use cueme_broker::notify::{NewChannel, People, Reason, Reasons, TOKEN_BYTES_MAX, add_channel};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::visible::quoted;

use super::channels::{channels, cli_error};
use crate::cli::{ChannelWord, NotifyAddArgs};
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, args: &NotifyAddArgs) -> Result<Exit, CliError> {
    let kind = word(args.kind);
    let name = args.name.as_deref().unwrap_or(kind);
    if channels(places)?.iter().any(|channel| channel.name == name) {
        return Err(
            CliError::usage(format!("there is a channel {} already", quoted(name)))
                .with_hint(format!("run `cueme notify remove {name}` first, or add --name")),
        );
    }
    let mut channel = described(kind, args)?;
    let keys = secret_keys(args);
    channel.secrets = keys.iter().copied().zip(read_secrets(keys)?).collect();
    let name = add_channel(places, &channel).map_err(cli_error)?;
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

fn described(kind: &str, args: &NotifyAddArgs) -> Result<NewChannel, CliError> {
    let texts = [
        ("url", &args.url),
        ("chat", &args.chat),
        ("channel", &args.channel),
        ("replies", &args.replies),
        ("person", &args.person),
        ("after", &args.after),
        ("quiet", &args.quiet),
    ];
    let texts = texts
        .into_iter()
        .filter_map(|(key, text)| Some((key, text.clone()?)));
    let mut people = People::new();
    for person in &args.people {
        let (id, name) = person
            .split_once('=')
            .filter(|(id, name)| !id.trim().is_empty() && !name.trim().is_empty())
            .ok_or_else(|| {
                CliError::usage(format!("{} is not ID=NAME", quoted(person)))
                    .with_hint("write --people 42=Ada")
            })?;
        people.insert(id.trim().to_owned(), name.trim().to_owned());
    }
    let reasons: Vec<Reason> = args.reasons.iter().map(|word| word.reason()).collect();
    Ok(NewChannel {
        kind: kind.to_owned(),
        name: args.name.clone(),
        texts: texts.collect(),
        people,
        preview: !args.no_preview,
        reasons: Reasons::try_from(reasons).ok(),
        secrets: Vec::new(),
    })
}

fn read_secrets(keys: &[&str]) -> Result<Vec<String>, CliError> {
    let stdin = std::io::stdin();
    if !keys.is_empty() && stdin.is_terminal() {
        output::tell(&format!("paste {}, one per line:\n", keys.join(" and ")));
    }
    let mut secrets = Vec::with_capacity(keys.len());
    for key in keys {
        let mut line = String::new();
        let read = std::io::Read::take(&mut stdin.lock(), TOKEN_BYTES_MAX as u64).read_line(&mut line);
        read.map_err(|error| CliError::new(Exit::Io, format!("could not read the {key}: {error}")))?;
        let secret = line.trim();
        if secret.is_empty() {
            return Err(CliError::usage(format!("no {key} on stdin")).with_hint("write one token per line"));
        }
        secrets.push(secret.to_owned());
    }
    Ok(secrets)
}
