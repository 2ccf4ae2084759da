//! `cueme inbox`: what agents ask right now.

use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{CueView, EventKind, Nothing, Request};

use crate::cli::InboxArgs;
use crate::client::{Watched, expect_reply, list, watch};
use crate::display::{Paint, card, now};
use crate::error::CliError;
use crate::{environment, output};

/// The pause before reconnecting to a broker that ended while it was watched.
pub(crate) const RECONNECT_PAUSE: Duration = Duration::from_millis(300);
/// The refresh interval of the times on a screen.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn run(args: &InboxArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    if args.watch {
        return stay(&places, args.json);
    }
    output::print(&Inbox::read(&places)?.rendered(args.json)?)?;
    Ok(Exit::Done)
}

/// The entries of the inbox.
#[derive(Debug, Default)]
struct Inbox {
    /// Open questions, and those that are out of service.
    cues: Vec<CueView>,
    /// Questions that a queued answer answered, before anybody saw them.
    unseen: Vec<CueView>,
}

impl Inbox {
    fn read(places: &Places) -> Result<Self, CliError> {
        Ok(Self {
            cues: open_cues(places)?,
            unseen: listed(places, &Request::Unseen(Nothing {}))?,
        })
    }

    /// Words it; a program is told what is open.
    fn rendered(&self, is_json: bool) -> Result<String, CliError> {
        if is_json {
            return Ok(format!("{}\n", output::json_line(&self.cues)?));
        }
        let (paint, columns, now) = (Paint::for_stdout(), output::columns(), now());
        let card = |cue: &CueView| card(cue, now, columns, paint);
        let mut parts: Vec<String> = self.cues.iter().map(card).collect();
        if parts.is_empty() {
            parts.push("no agent is waiting for you".to_owned());
        }
        if let Some(first) = self.cues.iter().find(|cue| cue.is_answerable()) {
            parts.push(paint.dim(&format!("answer with `cueme answer {}`", first.cue_id)));
        }
        parts.extend(self.unseen.iter().map(card));
        if let Some(first) = self.unseen.first() {
            let hint = format!(
                "your queue answered before you saw the question: `cueme show {}` shows what the agent got, and takes it off \
                 this list",
                first.cue_id
            );
            parts.push(paint.dim(&hint));
        }
        Ok(format!("{}\n", parts.join("\n\n")))
    }
}

/// Returns the open questions and those that are out of service.
pub(super) fn open_cues(places: &Places) -> Result<Vec<CueView>, CliError> {
    listed(places, &Request::Inbox(Nothing {}))
}

/// Returns the questions that a request lists.
pub(crate) fn listed(places: &Places, request: &Request) -> Result<Vec<CueView>, CliError> {
    let mut cues = Vec::new();
    list(places, request, |reply| {
        cues.push(*expect_reply!(reply, Cue)?);
        Ok(())
    })?;
    Ok(cues)
}

/// Prints the inbox anew whenever it changes, for as long as the person stays.
fn stay(places: &Places, is_json: bool) -> Result<Exit, CliError> {
    let mut shown: Option<String> = None;
    let mut inbox = Inbox::default();
    // Times pass only on a screen; a program reads them as data.
    let tick = (output::is_terminal() && !is_json).then_some(TICK);
    loop {
        watch(places, tick, |watched| {
            match watched {
                Watched::Event(event) if event.what == EventKind::Joined => return Ok(()),
                Watched::Event(_) | Watched::Missed => inbox = Inbox::read(places)?,
                Watched::Tick => {}
            }
            let text = inbox.rendered(is_json)?;
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
