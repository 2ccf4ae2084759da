//! Runs that adapters drive, and their events.

use cueme_store::{Code, RunRecords, StoreError, parse_id};
use protocol_spec::id::{AgentId, CueId, RunId};
use protocol_spec::message::{Run, RunEnd, RunEvent};
use protocol_spec::time::Timestamp;

use crate::fault::Fault;
use crate::statements::params;
use crate::store::PostgresStore;

/// The most runs that are kept; beyond that, the oldest ended ones are deleted.
const RUNS_KEPT: i64 = 2_000;
/// The most events that are kept of one run; beyond that, the oldest are deleted.
const EVENTS_KEPT: i64 = 500;

impl RunRecords for PostgresStore {
    fn keep_run(&self, run: &Run, at: Timestamp) -> Result<(), StoreError> {
        let params_json = run.session_params.as_ref().map(ToString::to_string);
        // A driver reports with each event of a run; most reports change nothing that is shown in a list.
        let is_shown: Option<bool> = self.find_one(
            // A known run is only updated: an upsert would use up a number each time.
            "WITH known AS (UPDATE runs SET
                     agent_id = coalesce((SELECT agent_id FROM agents WHERE agent_id = $3), agent_id), status = $6,
                     project = $4, title = $5, ending = $7, error = $8, session = coalesce($9, session),
                     session_params = coalesce($10, session_params), model = coalesce($11, model),
                     branch = coalesce($12, branch), pr_url = coalesce($13, pr_url), url = coalesce($14, url),
                     changed_at = $15, ended_at = CASE WHEN $7::bigint IS NULL THEN NULL ELSE $15::bigint END
                 WHERE run_id = $1 AND ending IS NULL),
             new AS (INSERT INTO runs (run_id, kind, agent_id, project, title, status, ending, error, session, session_params,
                 model, branch, pr_url, url, started_at, changed_at, ended_at)
             SELECT $1, $2::bigint, (SELECT agent_id FROM agents WHERE agent_id = $3), $4, $5, $6, $7::bigint, $8, $9, $10, $11, $12,
                 $13, $14, $15::bigint, $15::bigint, CASE WHEN $7::bigint IS NULL THEN NULL ELSE $15::bigint END
             WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = $1))
             -- Sees the run as it was.
             SELECT NOT EXISTS (SELECT 1 FROM runs WHERE run_id = $1 AND (ending IS NOT NULL OR (
                 agent_id IS NOT DISTINCT FROM coalesce((SELECT agent_id FROM agents WHERE agent_id = $3), agent_id)
                 AND (project, title, status) = ($4, $5, $6) AND $7::bigint IS NULL AND error IS NOT DISTINCT FROM $8
                 AND session IS NOT DISTINCT FROM coalesce($9, session)
                 AND session_params IS NOT DISTINCT FROM coalesce($10, session_params)
                 AND model IS NOT DISTINCT FROM coalesce($11, model) AND branch IS NOT DISTINCT FROM coalesce($12, branch)
                 AND pr_url IS NOT DISTINCT FROM coalesce($13, pr_url) AND url IS NOT DISTINCT FROM coalesce($14, url))))",
            params![
                run.run_id.to_string().as_str(),
                run.kind.number(),
                run.agent_id.as_ref().map(AgentId::as_str),
                &run.project,
                &run.title,
                &run.status,
                run.end.map(RunEnd::number),
                &run.error,
                &run.session,
                &params_json,
                &run.model,
                &run.branch,
                &run.pr_url,
                &run.url,
                at.as_millis(),
            ],
        )?;
        self.mark_dirty();
        if is_shown == Some(true) {
            self.touch_records();
        }
        // Only a run that ends can exceed the limit; a report of progress reads its own row alone.
        if run.end.is_none() {
            return Ok(());
        }
        self.record(
            "DELETE FROM runs WHERE ending IS NOT NULL AND seq <= (SELECT max(seq) FROM runs) - $1",
            params![RUNS_KEPT],
        )
    }

    fn note_run_event(&self, run: RunId, event: &RunEvent) -> Result<(), StoreError> {
        let id = run.to_string();
        self.note_record(
            "INSERT INTO run_events (run_id, at, what, text) SELECT run_id, $2, $3, $4 FROM runs WHERE run_id = $1",
            params![&id, event.at.as_millis(), &event.what, &event.text],
        )?;
        self.note_record(
            "DELETE FROM run_events WHERE run_id = $1 AND seq <=
                 (SELECT seq FROM run_events WHERE run_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)",
            params![&id, EVENTS_KEPT],
        )
    }

    fn open_runs_of_session(&self, session: &str) -> Result<Vec<RunId>, StoreError> {
        let rows = self.query(
            "SELECT run_id FROM runs WHERE session = $1 AND ending IS NULL ORDER BY seq",
            params![session],
        )?;
        let found = rows
            .iter()
            .map(|row| parse_id(row.try_get(0).map_err(Fault::from)?));
        found.collect()
    }

    fn is_of_open_run(&self, cue: CueId) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM cues c JOIN runs r USING (agent_id) WHERE c.cue_id = $1 AND r.ending IS NULL",
            params![cue.as_str()],
        )
    }

    fn has_agent(&self, agent: &AgentId) -> Result<bool, StoreError> {
        self.exists(
            "SELECT 1 FROM agents WHERE agent_id = $1",
            params![agent.as_str()],
        )
    }
}
