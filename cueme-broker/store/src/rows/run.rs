//! Runs and their events.

use protocol_spec::message::{Run, RunEnd, RunEvent};

use super::Columns;
use crate::{Code, RunRow, parse_id};

columns! {
    RUN_ID, KIND, AGENT_ID, PROJECT, TITLE, STATUS, ENDING, ERROR, SESSION, SESSION_PARAMS, MODEL,
    BRANCH, PR_URL, URL, STARTED_AT, CHANGED_AT, ENDED_AT
}

/// Reads a run.
pub fn run_row<R: Columns>(row: &R) -> Result<RunRow, R::Fault> {
    let end = row.maybe_number(ENDING)?;
    Ok(RunRow {
        run: Run {
            run_id: row.id(RUN_ID)?,
            kind: row.code(KIND)?,
            agent_id: row.maybe_id(AGENT_ID)?,
            project: row.text(PROJECT)?,
            title: row.text(TITLE)?,
            status: row.text(STATUS)?,
            end: end.map(RunEnd::from_number).transpose()?,
            error: row.maybe_text(ERROR)?,
            session: row.maybe_text(SESSION)?,
            session_params: row.maybe_text(SESSION_PARAMS)?.map(parse_id).transpose()?,
            model: row.maybe_text(MODEL)?,
            branch: row.maybe_text(BRANCH)?,
            pr_url: row.maybe_text(PR_URL)?,
            url: row.maybe_text(URL)?,
        },
        started_at: row.time(STARTED_AT)?,
        changed_at: row.time(CHANGED_AT)?,
        ended_at: row.maybe_time(ENDED_AT)?,
    })
}

pub use event::run_event;

mod event {
    use super::{Columns, RunEvent};

    columns! {
        AT, WHAT, TEXT
    }

    /// Reads an event of a run.
    pub fn run_event<R: Columns>(row: &R) -> Result<RunEvent, R::Fault> {
        Ok(RunEvent {
            at: row.time(AT)?,
            what: row.text(WHAT)?,
            text: row.text(TEXT)?,
        })
    }
}
