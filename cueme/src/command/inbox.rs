//! `cueme inbox`: what agents ask right now.

use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{CueView, EventKind, Nothing, Request};

use crate::cli::InboxArgs;
use crate::client::{Watched, expect_reply, list, watch};
use crate::display::{Paint, card, now};
use crate::error::CliError;
use crate::{output, surroundings};

/// How long to leave a broker alone that went away while it was watched.
const RECONNECT_PAUSE: Duration = Duration::from_millis(300);
/// How often the times on a screen are brought up to date.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn run(args: &InboxArgs) -> Result<Exit, CliError> {
    let places = surroundings::places()?;
    if args.watch {
        return stay(&places, args.json);
    }
    output::print(&rendered(&open_cues(&places)?, args.json)?)?;
    Ok(Exit::Done)
}

/// Returns the open questions.
pub(super) fn open_cues(places: &Places) -> Result<Vec<CueView>, CliError> {
    let mut cues = Vec::new();
    list(places, &Request::Inbox(Nothing {}), |reply| {
        cues.push(*expect_reply!(reply, Cue)?);
        Ok(())
    })?;
    Ok(cues)
}

fn rendered(cues: &[CueView], is_json: bool) -> Result<String, CliError> {
    if is_json {
        return Ok(format!("{}\n", output::json_line(&cues)?));
    }
    let paint = Paint::for_stdout();
    let Some(first) = cues.first() else {
        return Ok("no agent is waiting for you\n".to_owned());
    };
    let (columns, now) = (output::columns(), now());
    let cards: Vec<String> = cues.iter().map(|cue| card(cue, now, columns, paint)).collect();
    let hint = paint.dim(&format!("answer with `cueme answer {}`", first.cue_id));
    Ok(format!("{}\n\n{hint}\n", cards.join("\n\n")))
}

/// Prints the inbox anew whenever it changes, for as long as the person stays.
fn stay(places: &Places, is_json: bool) -> Result<Exit, CliError> {
    let mut shown: Option<String> = None;
    let mut cues = Vec::new();
    // Times pass only on a screen; a program reads them as data.
    let tick = (output::is_terminal() && !is_json).then_some(TICK);
    loop {
        watch(places, tick, |watched| {
            match watched {
                Watched::Event(event) if event.what == EventKind::Joined => return Ok(()),
                Watched::Event(_) | Watched::Missed => cues = open_cues(places)?,
                Watched::Tick => {}
            }
            let text = rendered(&cues, is_json)?;
            if shown.as_ref() != Some(&text) {
                output::print(&screen(&text, is_json))?;
                shown = Some(text);
            }
            Ok(())
        })?;
        std::thread::sleep(RECONNECT_PAUSE);
    }
}

/// A person sees one inbox that changes; a program gets one after the other.
fn screen(text: &str, is_json: bool) -> String {
    const CLEAR: &str = "\u{1b}[H\u{1b}[2J";
    if output::is_terminal() && !is_json {
        format!("{CLEAR}{text}")
    } else if is_json {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}
