//! Stores reports of runs, and lists runs.

use std::sync::Arc;

use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{
    ErrorCode, Failure, RUN_EVENTS_PER_REPORT_MAX, RUN_TEXT_BYTES_MAX, Run, RunEvent, RunKind, RunNoted,
    RunQuery, RunReport, RunView,
};

use crate::broker::Broker;
use crate::engine::{Closing, Work, storage_failure};
use crate::store::{Records, RunRow, RunsWanted, StoreError};
use protocol_spec::time::Timestamp;

/// The most runs that are listed.
pub(crate) const RUNS_LISTED_MAX: u32 = 200;
/// The default number of runs that are listed.
const RUNS_LISTED: u32 = 50;

impl Broker {
    /// Stores the state of a run and its events.
    pub(crate) async fn report_run(self: &Arc<Self>, report: RunReport) -> Result<RunNoted, Failure> {
        check(&report)?;
        let run_id = report.run.run_id;
        let (kind, agent, has_ended) = (
            report.run.kind,
            report.run.agent_id.clone(),
            report.run.end.is_some(),
        );
        self.keep(move |store, now| {
            store.keep_run(&report.run, now)?;
            if has_ended {
                store.forget_ended_leads()?;
            }
            report
                .events
                .iter()
                .try_for_each(|event| store.note_run_event(run_id, event))
        })
        .await?;
        if has_ended {
            self.followers().end(run_id);
            if let Some(agent) = agent {
                if kind == RunKind::Cloud {
                    self.close_questions(agent.clone()).await;
                }
                self.followers().announce_end(agent);
            }
        }
        self.followers().announce();
        Ok(RunNoted { run_id })
    }

    /// Closes the questions of a cloud agent whose run ended: the agent cannot receive an answer any more.
    async fn close_questions(self: &Arc<Self>, agent: AgentId) {
        let open = self.read(move |reader| match reader.has_open_run(&agent)? {
            true => Ok(Vec::new()),
            false => reader.answerable(Some(&agent)),
        });
        for row in open.await.unwrap_or_default() {
            let closing = Work::Close {
                cue: row.cue_id,
                verdict: Closing::Cancel(Some("the run is over".to_owned())),
                by: None,
                hold_ms: 0,
            };
            // A question that was answered at this moment is closed already.
            let _ = self.submit(closing).await;
        }
    }

    /// Adds one event to a run.
    pub(crate) async fn note_run(&self, run: RunId, what: &'static str, text: String) -> Result<(), Failure> {
        self.keep(move |store, at| {
            let what = what.to_owned();
            let text = text.clone();
            store.note_run_event(run, &RunEvent { at, what, text })
        })
        .await?;
        self.followers().announce();
        Ok(())
    }

    /// Lists runs, newest first.
    pub(crate) async fn runs(self: &Arc<Self>, query: RunQuery) -> Result<Vec<RunView>, Failure> {
        let wanted = RunsWanted {
            kind: query.kind,
            name: query.name,
            agent: None,
            limit: query.limit.unwrap_or(RUNS_LISTED).min(RUNS_LISTED_MAX),
        };
        let rows = self.read(move |reader| reader.runs(&wanted)).await?;
        Ok(rows.into_iter().map(|row| self.view(row)).collect())
    }

    /// Adds the facts that are not stored.
    pub(crate) fn view(&self, row: RunRow) -> RunView {
        RunView {
            followed: self.followers().has(row.run.run_id),
            run: row.run,
            started_at: row.started_at,
            changed_at: row.changed_at,
            ended_at: row.ended_at,
        }
    }

    /// Writes about runs, in one transaction.
    pub(super) async fn keep<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Failure> {
        self.engine()
            .write(write)
            .await?
            .map_err(|error| storage_failure(&error))
    }
}

fn check(report: &RunReport) -> Result<(), Failure> {
    if report.events.len() > RUN_EVENTS_PER_REPORT_MAX {
        return Err(Failure::new(
            ErrorCode::TooLarge,
            format!("more than {RUN_EVENTS_PER_REPORT_MAX} events in one report"),
        ));
    }
    let events = report
        .events
        .iter()
        .flat_map(|event| [event.what.as_str(), event.text.as_str()]);
    match texts(&report.run)
        .chain(events)
        .find(|text| text.len() > RUN_TEXT_BYTES_MAX)
    {
        Some(_) => Err(Failure::new(
            ErrorCode::TooLarge,
            format!("a text of a run is longer than {RUN_TEXT_BYTES_MAX} bytes"),
        )),
        None => Ok(()),
    }
}

fn texts(run: &Run) -> impl Iterator<Item = &str> {
    let optional = [
        &run.error,
        &run.session,
        &run.model,
        &run.branch,
        &run.pr_url,
        &run.url,
    ];
    [&run.project, &run.title, &run.status]
        .into_iter()
        .chain(optional.into_iter().flatten())
        .map(String::as_str)
}
