//! Reports a cloud run on stdout and to the broker.

use std::sync::{Arc, PoisonError};

use adapter_core::cursor::cloud::{CloudEvent, EventSink, Session, encode_session, format_event};

use super::gate::TurnStart;
use crate::display::{now, visible};
use crate::output;
use crate::runs::{Reporter, shorten_text};

/// Reports the events of a run.
#[derive(Debug)]
pub(super) struct CloudReporter<'a> {
    pub(super) reporter: &'a Reporter,
    pub(super) turn: TurnStart,
    pub(super) is_json: bool,
}

impl EventSink for CloudReporter<'_> {
    fn emit(&mut self, event: &CloudEvent) {
        if matches!(event, CloudEvent::Init { .. }) {
            *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = now();
        }
        let line = if self.is_json {
            output::json_text(event.line())
        } else {
            visible(&format_event(event))
        };
        // A reader that left does not end the run.
        let _ = output::print_line(&line);
        self.report(event);
    }
}

impl CloudReporter<'_> {
    fn report(&self, event: &CloudEvent) {
        match event.clone() {
            CloudEvent::Init {
                agent_id,
                run_id,
                api,
                repository,
                url,
                ..
            } => {
                let params = encode_session(&Session {
                    agent_id: agent_id.clone(),
                    repository,
                    run_id,
                    api,
                });
                let text = agent_id.clone();
                self.reporter.tell(
                    move |run| {
                        run.session = Some(shorten_text(&agent_id));
                        run.session_params = Some(params);
                        run.url = url.map(|url| shorten_text(&url)).or(run.url.take());
                        run.status = "CREATING".to_owned();
                    },
                    Some(("init", &text)),
                );
            }
            CloudEvent::Status { status, detail, .. } => {
                let text = match detail {
                    Some(detail) => format!("{status}: {detail}"),
                    None => status.clone(),
                };
                self.reporter.tell(
                    move |run| run.status = shorten_text(&status),
                    Some(("status", &text)),
                );
            }
            CloudEvent::Tool { name, status, .. } => {
                let text = format!("{name} ({status})");
                self.reporter.tell(|_| {}, Some(("tool", &text)));
            }
            CloudEvent::User { text } => self.reporter.tell(|_| {}, Some(("user", &text))),
            CloudEvent::Assistant { text } => self.reporter.tell(|_| {}, Some(("assistant", &text))),
            CloudEvent::Result {
                status,
                error,
                branch_name,
                pr_url,
                url,
                ..
            } => {
                if let Some(error) = error {
                    self.reporter.tell(|_| {}, Some(("error", &error.to_string())));
                }
                let text = status.clone();
                self.reporter.tell(
                    move |run| {
                        run.status = shorten_text(&status);
                        run.branch = branch_name
                            .map(|branch| shorten_text(&branch))
                            .or(run.branch.take());
                        run.pr_url = pr_url.map(|url| shorten_text(&url)).or(run.pr_url.take());
                        run.url = url.map(|url| shorten_text(&url)).or(run.url.take());
                    },
                    Some(("result", &text)),
                );
            }
        }
    }
}

/// Makes the mark of a turn's beginning.
pub(super) fn turn_start() -> TurnStart {
    Arc::new(std::sync::Mutex::new(now()))
}
