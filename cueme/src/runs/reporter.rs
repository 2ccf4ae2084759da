//! Reports a run to the broker, from a thread of its own: a broker that is slow or away never holds the run up.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use protocol_spec::endpoint::Places;
use protocol_spec::id::RunId;
use protocol_spec::message::{
    RUN_EVENTS_PER_REPORT_MAX, RUN_TEXT_BYTES_MAX, Request, Run, RunEnd, RunEvent, RunReport,
};
use protocol_spec::truncate::with_ellipsis;
use uuid::Uuid;

use crate::client::call;
use crate::display::now;
use crate::{environment, output};

/// Names the run, where the broker started what drives it.
const RUN_VARIABLE: &str = "CUEME_RUN_ID";
/// The timeout of the last report; after it, the process ends without it.
const LAST_REPORT_WAIT_MAX: Duration = Duration::from_secs(10);
/// The limit on a task's text in lists, in characters.
const TITLE_CHARS_MAX: usize = 200;

type Change = Box<dyn FnOnce(&mut Run) + Send>;

/// Something to be reported.
struct RunChange {
    change: Change,
    event: Option<RunEvent>,
}

/// Reports one run.
#[derive(Debug)]
pub(crate) struct Reporter {
    sender: Sender<RunChange>,
    thread: JoinHandle<()>,
}

impl Reporter {
    /// Reports a run that begins. When this returns the broker knows it, so that processes of the run may refer to it.
    pub(crate) fn begin(places: Places, run: Run) -> Self {
        send(&places, &run, Vec::new());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || report(&places, run, &receiver));
        Self { sender, thread }
    }

    /// Reports a change of the run, and what happened.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut Run) + Send + 'static, event: Option<(&str, &str)>) {
        let event = event.map(|(what, text)| RunEvent {
            at: now(),
            what: what.to_owned(),
            text: shorten_text(text),
        });
        let change: Change = Box::new(change);
        // The thread ends only when this does.
        let _ = self.sender.send(RunChange { change, event });
    }

    /// Reports how the run ended, and waits until the broker knows, within reason.
    pub(crate) fn end(self, end: RunEnd, error: Option<&str>) {
        let error = error.map(shorten_text);
        self.tell(
            move |run| {
                run.end = Some(end);
                run.error = error;
            },
            None,
        );
        self.leave();
    }

    /// Reports what is left to report, and leaves the run as it is.
    pub(crate) fn leave(self) {
        let Self { sender, thread } = self;
        drop(sender);
        let deadline = Instant::now() + LAST_REPORT_WAIT_MAX;
        while !thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns the id of the run that this process drives.
pub(crate) fn run_id() -> RunId {
    let given = environment::variable(RUN_VARIABLE).and_then(|id| id.parse().ok());
    given.unwrap_or_else(|| RunId(Uuid::now_v7()))
}

/// Returns the beginning of a task.
pub(crate) fn title(prompt: &str) -> String {
    let first = prompt.trim().lines().next().unwrap_or_default();
    first.chars().take(TITLE_CHARS_MAX).collect()
}

/// Returns a text within what the broker takes.
pub(crate) fn shorten_text(text: &str) -> String {
    with_ellipsis(text, RUN_TEXT_BYTES_MAX)
}

fn report(places: &Places, mut run: Run, told: &Receiver<RunChange>) {
    while let Ok(first) = told.recv() {
        let mut events = Vec::new();
        take(first, &mut run, &mut events);
        while events.len() < RUN_EVENTS_PER_REPORT_MAX
            && let Ok(next) = told.try_recv()
        {
            take(next, &mut run, &mut events);
        }
        send(places, &run, events);
    }
}

/// Sends one report. A broker that does not take it is no reason to end a run.
fn send(places: &Places, run: &Run, events: Vec<RunEvent>) {
    let run = run.clone();
    let report = Request::RunReport(Box::new(RunReport { run, events }));
    if let Err(error) = call(places, &report) {
        output::tell(&format!(
            "warning: could not report this run to the broker: {error}"
        ));
    }
}

fn take(told: RunChange, run: &mut Run, events: &mut Vec<RunEvent>) {
    (told.change)(run);
    events.extend(told.event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_where_a_character_ends() {
        let text = "é".repeat(RUN_TEXT_BYTES_MAX);
        let short = shorten_text(&text);
        assert!(short.len() <= RUN_TEXT_BYTES_MAX && short.ends_with('…'));
        assert_eq!(shorten_text("x"), "x");
        assert_eq!(title("\n  first line \nsecond"), "first line ");
    }
}
