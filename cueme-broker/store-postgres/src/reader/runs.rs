//! Runs that adapters drive, and their events.

use cueme_store::{Code, RunReads, RunRow, RunsWanted, StoreError, parse_id};
use protocol_spec::id::{AgentId, RunId};
use protocol_spec::message::{Run, RunEnd, RunEvent, RunKind};
use tokio_postgres::Row;

use super::row::Columns;
use super::{Fault, PostgresReader};
use crate::text::encode;

const COLUMNS: &str =
    "SELECT run_id, kind, agent_id, project, title, status, ending, error, session, session_params, model, branch,
    pr_url, url, started_at, changed_at, ended_at FROM runs";

impl RunReads for PostgresReader {
    fn runs(&self, wanted: &RunsWanted) -> Result<Vec<RunRow>, StoreError> {
        let rows = self.rows(
            &format!(
                "{COLUMNS} WHERE ($1::bigint IS NULL OR kind = $1)
                     AND ($2::text IS NULL OR starts_with(run_id, $2) OR starts_with(session, $2))
                     AND ($3::text IS NULL OR agent_id = $3) ORDER BY seq DESC LIMIT $4"
            ),
            &[
                &wanted.kind.map(RunKind::number),
                &wanted.name.as_deref().map(encode),
                &wanted.agent.as_ref().map(AgentId::as_str),
                &i64::from(wanted.limit),
            ],
        )?;
        Ok(rows.iter().map(run_row).collect::<Result<_, _>>()?)
    }

    fn open_cloud_runs(&self, limit: usize) -> Result<Vec<Run>, StoreError> {
        let rows = self.rows(
            &format!(
                "{COLUMNS} WHERE ending IS NULL AND kind = $1 AND session IS NOT NULL ORDER BY seq DESC LIMIT $2"
            ),
            &[
                &RunKind::Cloud.number(),
                &i64::try_from(limit).unwrap_or(i64::MAX),
            ],
        )?;
        let run = |row| run_row(row).map(|row| row.run);
        Ok(rows.iter().map(run).collect::<Result<_, _>>()?)
    }

    fn has_open_run(&self, agent: &AgentId) -> Result<bool, StoreError> {
        Ok(self
            .row(
                "SELECT 1 FROM runs WHERE agent_id = $1 AND ending IS NULL LIMIT 1",
                &[&agent.as_str()],
            )?
            .is_some())
    }

    fn one_run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let row = self.row(&format!("{COLUMNS} WHERE run_id = $1"), &[&run.to_string()])?;
        Ok(row.as_ref().map(run_row).transpose()?)
    }

    fn run_events(&self, run: RunId) -> Result<Vec<RunEvent>, StoreError> {
        let rows = self.rows(
            "SELECT at, what, text FROM run_events WHERE run_id = $1 ORDER BY seq",
            &[&run.to_string()],
        )?;
        Ok(rows.iter().map(run_event).collect::<Result<_, _>>()?)
    }

    fn session_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError> {
        let row = self.row(
            "SELECT session FROM agents WHERE agent_id = $1",
            &[&agent.as_str()],
        )?;
        Ok(row.map(|row| row.maybe_text(0)).transpose()?.flatten())
    }
}

fn run_event(row: &Row) -> Result<RunEvent, Fault> {
    Ok(RunEvent {
        at: row.time(0)?,
        what: row.text(1)?,
        text: row.text(2)?,
    })
}

fn run_row(row: &Row) -> Result<RunRow, Fault> {
    let end: Option<i64> = row.value(6)?;
    Ok(RunRow {
        run: Run {
            run_id: row.id(0)?,
            kind: row.code(1)?,
            agent_id: row.maybe_id(2)?,
            project: row.text(3)?,
            title: row.text(4)?,
            status: row.text(5)?,
            end: end.map(RunEnd::from_number).transpose()?,
            error: row.maybe_text(7)?,
            session: row.maybe_text(8)?,
            session_params: row.maybe_text(9)?.map(parse_id).transpose()?,
            model: row.maybe_text(10)?,
            branch: row.maybe_text(11)?,
            pr_url: row.maybe_text(12)?,
            url: row.maybe_text(13)?,
        },
        started_at: row.time(14)?,
        changed_at: row.time(15)?,
        ended_at: row.maybe_time(16)?,
    })
}
