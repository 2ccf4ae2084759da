//! `cueme undo`: takes back an answer that the agent has not got yet.

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{History, Request, Undo};
use protocol_spec::outcome::Outcome;

use crate::cli::UndoArgs;
use crate::client::{call, expect_reply, list};
use crate::display::{now, visible};
use crate::error::CliError;
use crate::{environment, output};

/// The number of newest questions that are searched for an answer that can be undone.
const SEARCHED_MAX: u32 = 200;

pub(super) fn run(args: &UndoArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let cue = match &args.cue_id {
        Some(cue) => cue.clone(),
        None => newest_held(&places)?,
    };
    let undone = expect_reply!(call(&places, &Request::Undo(Undo { cue }))?, Undone)?;
    output::print_line(&format!(
        "{} is open again; the agent received nothing",
        undone.cue_id
    ))?;
    if let Some(text) = undone.answer.as_ref().and_then(draft_text) {
        output::print_line("you had written:")?;
        output::print_line(&visible(&text))?;
    }
    Ok(Exit::Done)
}

/// Finds the answer given last that can still be taken back.
fn newest_held(places: &Places) -> Result<String, CliError> {
    let history = History {
        agent: None,
        search: None,
        limit: Some(SEARCHED_MAX),
        before: None,
    };
    let (mut held, mut is_answered) = (Vec::new(), false);
    list(places, &Request::History(history), |reply| {
        let cue = expect_reply!(reply, Cue)?;
        is_answered |= cue.outcome == Outcome::Answered;
        if cue.released_at.is_some_and(|released| released > now()) {
            held.push((cue.decided_at, cue.cue_id.to_string()));
        }
        Ok(())
    })?;
    held.into_iter().max().map(|(_, cue)| cue).ok_or_else(|| {
        let hint = if is_answered {
            "it is too late for the last one; `cueme say <agent_id>` leaves the agent a note"
        } else {
            "no question was answered yet; `cueme inbox` lists the open ones"
        };
        CliError::new(Exit::NotFound, "there is no answer to take back").with_hint(hint)
    })
}

/// Returns what the person wrote or picked, so that it is not lost; secrets do not come back.
fn draft_text(answer: &Answer) -> Option<String> {
    let reply = match &answer.reply {
        Some(Reply::Choice { selected, other }) => selected.iter().chain(other).cloned().collect(),
        Some(Reply::Form { fields }) => fields
            .iter()
            .map(|field| {
                let values: Vec<&str> = field
                    .values
                    .iter()
                    .chain(&field.other)
                    .map(String::as_str)
                    .collect();
                format!("{}: {}", field.label, values.join(", "))
            })
            .collect(),
        Some(Reply::Confirm { .. } | Reply::Continue) | None => Vec::new(),
    };
    let parts: Vec<String> = reply.into_iter().chain(answer.text.clone()).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}
