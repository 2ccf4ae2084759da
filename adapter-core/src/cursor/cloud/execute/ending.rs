//! The end of a run: it is stopped where that is due, and its result is reported.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Driver, Stop};
use crate::cursor::cloud::api::RunState;
use crate::cursor::cloud::event::CloudEvent;
use crate::cursor::cloud::result::{EXIT_CANCELLED, EXIT_FAILURE, EXIT_SUCCESS, ExecutionResult};
use crate::cursor::cloud::session::Session;
use crate::cursor::cloud::status::{Phase, phase};

/// The part of a result that the run's last state does not tell.
struct Ended {
    error_message: Option<String>,
    error: Option<Value>,
    timed_out: bool,
    cancelled: bool,
    unattended: bool,
}

impl Driver<'_> {
    /// Tells whether the agent works on although we stop: what is wrong is between us and the API.
    fn goes_on(&self, ending: &Result<RunState, Stop>) -> bool {
        let Err(Stop::Failed(problem)) = ending else {
            return false;
        };
        let may_be_active = self
            .state
            .as_ref()
            .is_none_or(|state| phase(&state.status) == Phase::Active);
        // Of an agent that this process never saw, the API may know nothing because the key is another account's.
        let is_gone = problem.is_gone && self.state.is_some();
        self.current.is_some() && may_be_active && !is_gone
    }

    pub(super) async fn finish(mut self, mut ending: Result<RunState, Stop>) -> ExecutionResult {
        let (timed_out, cancelled) = (
            matches!(ending, Err(Stop::TimedOut)),
            matches!(ending, Err(Stop::Cancelled)),
        );
        let mut error_message = match &ending {
            Ok(state) if phase(&state.status) == Phase::Succeeded => None,
            Ok(state) => Some(format!("Cursor run {}", state.status)),
            Err(Stop::Cancelled) => Some("the run was cancelled".to_owned()),
            Err(Stop::TimedOut) => Some(timeout_message(self.run.settings.timeout)),
            Err(Stop::Failed(problem)) => Some(problem.message.clone()),
        };
        let goes_on = self.goes_on(&ending);
        let report = match &mut ending {
            Err(Stop::Failed(problem)) => problem.report.take(),
            Ok(_) | Err(Stop::Cancelled | Stop::TimedOut) => None,
        };
        if timed_out || cancelled {
            let stopping = self.stop_run().await;
            error_message = error_message
                .zip(stopping)
                .map(|(message, note)| format!("{message}{note}"));
        }
        let state = ending.ok().or(self.state.take());
        self.report(
            state.as_ref(),
            Ended {
                error_message,
                error: report,
                timed_out,
                cancelled,
                unattended: goes_on,
            },
        )
    }

    /// Stops the current run. Returns what to add to the message.
    async fn stop_run(&mut self) -> Option<String> {
        let Some(run) = self.current.clone() else {
            return Some(String::new());
        };
        let grace = self.run.settings.grace.max(Duration::from_secs(1));
        let note = match timeout(grace, self.run.api.stop(&run)).await {
            Ok(Ok(_)) => String::new(),
            Ok(Err(error)) => format!("; it could not be stopped: {error}"),
            Err(_) => "; it could not be stopped in time".to_owned(),
        };
        if let Ok(Ok(state)) = timeout(grace, self.run.api.state(&run)).await {
            self.note_status(&run.agent_id, &state.status);
            self.state = Some(state);
        }
        Some(note)
    }

    fn report(mut self, state: Option<&RunState>, ended: Ended) -> ExecutionResult {
        let Ended {
            error_message,
            mut error,
            timed_out,
            cancelled,
            unattended,
        } = ended;
        let error_message = error_message.map(|message| self.redactor.text(&message));
        if let Some(error) = &mut error {
            self.redactor.json(error);
        }
        let status = state.map_or_else(|| "UNKNOWN".to_owned(), |state| state.status.clone());
        let url = state
            .and_then(|state| state.url.clone())
            .or_else(|| self.url.clone());
        let text = self.transcript.last_word().map(str::to_owned);
        let text = text.or_else(|| state.and_then(|state| state.summary.clone()));
        self.emit(&CloudEvent::Result {
            agent_id: self.current.as_ref().map(|run| run.agent_id.clone()),
            status: status.clone(),
            is_error: error_message.is_some(),
            error_message: error_message.clone(),
            error: error.clone().map(Box::new),
            text,
            branch_name: state.and_then(|state| state.branch_name.clone()),
            pr_url: state.and_then(|state| state.pr_url.clone()),
            url: url.clone(),
        });
        ExecutionResult {
            exit_code: match (&error_message, cancelled) {
                (None, _) => EXIT_SUCCESS,
                (Some(_), true) => EXIT_CANCELLED,
                (Some(_), false) => EXIT_FAILURE,
            },
            timed_out,
            cancelled,
            unattended,
            error_message,
            session: self.session(),
            provider: "cursor",
            usage: None,
            cost_usd: None,
            result_json: self.result_json(state, &status, url.as_deref(), error),
        }
    }

    fn session(&self) -> Option<Session> {
        let run = self.current.clone()?;
        Some(Session {
            agent_id: run.agent_id,
            repository: self.run.settings.repository.clone(),
            run_id: run.run_id,
            api: self.run.api.generation(),
        })
    }

    fn result_json(
        &self,
        state: Option<&RunState>,
        status: &str,
        url: Option<&str>,
        error: Option<Value>,
    ) -> Value {
        let mut value = json!({
            "status": status,
            "agentId": self.current.as_ref().map(|run| &run.agent_id),
            "runId": self.current.as_ref().and_then(|run| run.run_id.as_ref()),
            "target": {
                "branchName": state.and_then(|state| state.branch_name.as_ref()),
                "prUrl": state.and_then(|state| state.pr_url.as_ref()),
                "url": url,
            },
            "state": state.map(|state| &state.raw),
            "conversation": self.transcript.raw(),
            "error": error,
        });
        self.redactor.json(&mut value);
        value
    }
}

fn timeout_message(timeout: Option<Duration>) -> String {
    let seconds = timeout.unwrap_or_default().as_secs_f64();
    format!("the run took longer than {seconds} s and was stopped")
}
