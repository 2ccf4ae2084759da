//! Tells the broker of a conversation on this machine: its chat, its tools, its end.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use adapter_core::contract::{ActivityData, Event, Item, Note, Phase};
use protocol_spec::message::{Run, RunEnd, RunFollow, RunKind};

use super::human::BrokerHuman;
use crate::runs::{Reporter, follow, run_id, shorten_text, title};
use adapter_core::process::Canceller;

/// A conversation that is reported; its clones report the same one.
#[derive(Debug, Clone)]
pub(super) struct ReportedRun {
    reporter: Arc<Mutex<Option<Reporter>>>,
    /// Whether a human stopped it from the page.
    is_stopped: Arc<AtomicBool>,
}

impl ReportedRun {
    /// Begins to report. Without a human there is no broker to tell.
    pub(super) fn begin(
        human: Option<&BrokerHuman>,
        cwd: &Path,
        prompt: &str,
        resume: Option<&str>,
        canceller: &Canceller,
    ) -> Option<Self> {
        let human = human?;
        let run = Run {
            run_id: run_id(),
            kind: RunKind::Local,
            agent_id: Some(human.agent_id.clone()),
            project: shorten_text(&cwd.to_string_lossy()),
            title: title(prompt),
            status: "RUNNING".to_owned(),
            end: None,
            error: None,
            session: resume.map(shorten_text),
            session_params: None,
            model: None,
            branch: None,
            pr_url: None,
            url: None,
        };
        let request = RunFollow::of(run.run_id);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (canceller, asked) = (canceller.clone(), Arc::clone(&is_stopped));
        follow(human.places.clone(), request, move |woken| {
            if woken.stop {
                asked.store(true, Ordering::SeqCst);
                canceller.cancel();
            }
        });
        let reporter = Reporter::begin(human.places.clone(), run);
        Some(Self {
            reporter: Arc::new(Mutex::new(Some(reporter))),
            is_stopped,
        })
    }

    /// Reports what matters of what the CLI said.
    pub(super) fn item(&self, item: &Item<'_>) {
        let reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reporter) = reporter.as_ref() else { return };
        match item {
            Item::Note(Note::Session { id, model }) => {
                let (chat, model) = (shorten_text(id), shorten_text(model));
                let change = move |run: &mut Run| {
                    run.session = Some(chat);
                    run.model = Some(model);
                };
                reporter.tell(change, Some(("init", *id)));
            }
            Item::Activity(activity) => reporter.tell(|_| {}, Some(("tool", &words(&activity.data)))),
            Item::Event(Event::Error(error)) => {
                let message = shorten_text(&format!("{}: {}", error.code, error.message));
                reporter.tell(
                    {
                        let message = message.clone();
                        move |run| run.error = Some(message)
                    },
                    Some(("error", &message)),
                );
            }
            Item::Event(_) | Item::Note(_) => {}
        }
    }

    /// Reports the end.
    pub(super) fn end(&self, is_well: bool, was_stopped: bool) {
        let taken = self
            .reporter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(reporter) = taken else { return };
        let was_stopped = was_stopped || self.is_stopped.load(Ordering::SeqCst);
        let (end, status) = match (is_well, was_stopped) {
            (_, true) => (RunEnd::Cancelled, "CANCELLED"),
            (true, false) => (RunEnd::Succeeded, "FINISHED"),
            (false, false) => (RunEnd::Failed, "ERROR"),
        };
        reporter.tell(
            move |run| {
                run.status = status.to_owned();
                run.end = Some(end);
            },
            Some(("status", status)),
        );
        reporter.leave();
    }
}

fn words(step: &ActivityData<'_>) -> String {
    let mut words = match step.phase {
        Phase::Started => format!("{} …", step.name),
        Phase::Completed => format!("{}: {}", step.name, step.outcome.as_deref().unwrap_or("done")),
    };
    if let Some(hint) = &step.hint {
        words.push_str(&format!("  {hint}"));
    }
    if let Some(code) = step.exit_code.filter(|code| *code != 0) {
        words.push_str(&format!(" (exit {code})"));
    }
    words
}
