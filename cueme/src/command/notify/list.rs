//! `cueme notify list`: names, kinds and who may answer. Tokens and addresses are never printed; an address may be a secret.

use cueme_broker::notify::Channel;
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use serde_json::{Value, json};

use super::channels::channels;
use crate::error::CliError;
use crate::output;

pub(super) fn run(places: &Places, as_json: bool) -> Result<Exit, CliError> {
    let channels = channels(places)?;
    if as_json {
        let all: Vec<Value> = channels.iter().map(described).collect();
        output::print_json(&all)?;
        return Ok(Exit::Done);
    }
    if channels.is_empty() {
        output::print_line("no channels; `cueme notify add --help` shows how to add one")?;
        return Ok(Exit::NotFound);
    }
    for channel in &channels {
        let people = channel.kind.people();
        let answers = if people.is_empty() {
            "only tells".to_owned()
        } else {
            format!("answered by {}", people.join(", "))
        };
        let line = format!(
            "{}  {}  {answers}; after {} s",
            channel.name,
            channel.kind.word(),
            channel.after.as_secs()
        );
        output::print_foreign(&format!("{line}\n"))?;
    }
    Ok(Exit::Done)
}

fn described(channel: &Channel) -> Value {
    json!({
        "name": channel.name,
        "kind": channel.kind.word(),
        "people": channel.kind.people(),
        "after_ms": u64::try_from(channel.after.as_millis()).unwrap_or(u64::MAX),
        "quiet": channel.quiet.map(|hours| hours.to_string()),
        "preview": channel.preview,
        "reasons": channel.reasons,
    })
}
