//! Runs that adapters drive, and their events.

use cueme_store::{Code, RunReads, RunRecords, RunRow, RunsWanted, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId, RunId};
use protocol_spec::message::{Run, RunEnd, RunEvent, RunKind};
use protocol_spec::time::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::SqliteStore;
use super::fault::Fault;
use super::reader::{SqliteReader, read_rows};

/// The most runs that are kept; beyond that, the oldest ended ones are deleted.
const RUNS_KEPT: i64 = 2_000;
/// The most events that are kept of one run; beyond that, the oldest are deleted.
const EVENTS_KEPT: i64 = 500;

const COLUMNS: &str =
    "run_id, kind, agent_id, project, title, status, ending, error, session, session_params, model, branch,
    pr_url, url, started_at, changed_at, ended_at FROM runs";

impl RunRecords for SqliteStore {
    fn keep_run(&self, run: &Run, at: Timestamp) -> Result<(), StoreError> {
        let params_json = run.session_params.as_ref().map(ToString::to_string);
        self.run(
            "INSERT INTO runs (run_id, kind, agent_id, project, title, status, ending, error, session, session_params,
                 model, branch, pr_url, url, started_at, changed_at, ended_at)
             VALUES (?1, ?2, (SELECT agent_id FROM agents WHERE agent_id = ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                 ?13, ?14, ?15, ?15, CASE WHEN ?7 IS NULL THEN NULL ELSE ?15 END)
             ON CONFLICT (run_id) DO UPDATE SET
                 agent_id = ifnull(excluded.agent_id, agent_id), status = excluded.status,
                 project = excluded.project, title = excluded.title,
                 ending = excluded.ending, error = excluded.error,
                 session = ifnull(excluded.session, session),
                 session_params = ifnull(excluded.session_params, session_params),
                 model = ifnull(excluded.model, model), branch = ifnull(excluded.branch, branch),
                 pr_url = ifnull(excluded.pr_url, pr_url), url = ifnull(excluded.url, url),
                 changed_at = excluded.changed_at, ended_at = excluded.ended_at
             WHERE ending IS NULL",
            params![
                run.run_id.to_string(),
                run.kind.number(),
                run.agent_id.as_ref().map(AgentId::as_str),
                run.project,
                run.title,
                run.status,
                run.end.map(RunEnd::number),
                run.error,
                run.session,
                params_json,
                run.model,
                run.branch,
                run.pr_url,
                run.url,
                at.as_millis(),
            ],
        )?;
        // Only a run that ends can exceed the limit; a report of progress reads its own row alone.
        if run.end.is_none() {
            return Ok(());
        }
        self.run(
            "DELETE FROM runs WHERE ending IS NOT NULL AND seq <= (SELECT max(seq) FROM runs) - ?1",
            params![RUNS_KEPT],
        )
    }

    fn note_run_event(&self, run: RunId, event: &RunEvent) -> Result<(), StoreError> {
        let id = run.to_string();
        self.run(
            "INSERT INTO run_events (run_id, at, what, text)
             SELECT run_id, ?2, ?3, ?4 FROM runs WHERE run_id = ?1",
            params![id, event.at.as_millis(), event.what, event.text],
        )?;
        self.run(
            "DELETE FROM run_events WHERE run_id = ?1 AND seq <=
                 (SELECT seq FROM run_events WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
            params![id, EVENTS_KEPT],
        )
    }

    fn open_runs_of_session(&self, session: &str) -> Result<Vec<RunId>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT run_id FROM runs WHERE session = ?1 AND ending IS NULL ORDER BY seq";
            read_rows(connection, sql, params![session], |row| {
                Ok(parse_id(row.get(0)?)?)
            })
        })
    }

    fn is_of_open_run(&self, cue: CueId) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM cues c JOIN runs r USING (agent_id) WHERE c.cue_id = ?1 AND r.ending IS NULL",
            params![cue.as_str()],
        )
    }

    fn has_agent(&self, agent: &AgentId) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM agents WHERE agent_id = ?1",
            params![agent.as_str()],
        )
    }
}

impl RunReads for SqliteReader {
    fn runs(&self, wanted: &RunsWanted) -> Result<Vec<RunRow>, StoreError> {
        self.rows(
            &format!(
                "SELECT {COLUMNS} WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR substr(run_id, 1, length(?2)) = ?2
                     OR substr(session, 1, length(?2)) = ?2) AND (?3 IS NULL OR agent_id = ?3) ORDER BY seq DESC LIMIT ?4"
            ),
            params![
                wanted.kind.map(RunKind::number),
                wanted.name,
                wanted.agent.as_ref().map(AgentId::as_str),
                wanted.limit
            ],
            run_row,
        )
    }

    fn open_cloud_runs(&self, limit: usize) -> Result<Vec<Run>, StoreError> {
        self.rows(&format!(
                "SELECT {COLUMNS} WHERE ending IS NULL AND kind = ?1 AND session IS NOT NULL ORDER BY seq DESC LIMIT ?2"
            ), params![
                RunKind::Cloud.number(),
                i64::try_from(limit).unwrap_or(i64::MAX)
            ], |row| { Ok(run_row(row)?.run) })
    }

    fn has_open_run(&self, agent: &AgentId) -> Result<bool, StoreError> {
        self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM runs WHERE agent_id = ?1 AND ending IS NULL")?;
            Ok(statement.exists(params![agent.as_str()])?)
        })
    }

    fn one_run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        self.row(
            &format!("SELECT {COLUMNS} WHERE run_id = ?1"),
            params![run.to_string()],
            run_row,
        )
    }

    fn run_events(&self, run: RunId) -> Result<Vec<RunEvent>, StoreError> {
        self.rows(
            "SELECT at, what, text FROM run_events WHERE run_id = ?1 ORDER BY seq",
            params![run.to_string()],
            |row| {
                Ok(RunEvent {
                    at: Timestamp::from_millis(row.get(0)?),
                    what: row.get(1)?,
                    text: row.get(2)?,
                })
            },
        )
    }

    fn session_of_agent(&self, agent: &AgentId) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            let found: Option<Option<String>> = connection
                .prepare_cached("SELECT session FROM agents WHERE agent_id = ?1")?
                .query_row(params![agent.as_str()], |row| row.get(0))
                .optional()?;
            Ok(found.flatten())
        })
    }
}

fn run_row(row: &Row<'_>) -> Result<RunRow, Fault> {
    let end: Option<i64> = row.get(6)?;
    let session_params: Option<String> = row.get(9)?;
    Ok(RunRow {
        run: Run {
            run_id: parse_id(row.get(0)?)?,
            kind: RunKind::from_number(row.get(1)?)?,
            agent_id: row.get::<_, Option<String>>(2)?.map(parse_id).transpose()?,
            project: row.get(3)?,
            title: row.get(4)?,
            status: row.get(5)?,
            end: end.map(RunEnd::from_number).transpose()?,
            error: row.get(7)?,
            session: row.get(8)?,
            session_params: session_params.map(parse_id).transpose()?,
            model: row.get(10)?,
            branch: row.get(11)?,
            pr_url: row.get(12)?,
            url: row.get(13)?,
        },
        started_at: Timestamp::from_millis(row.get(14)?),
        changed_at: Timestamp::from_millis(row.get(15)?),
        ended_at: row.get::<_, Option<i64>>(16)?.map(Timestamp::from_millis),
    })
}
