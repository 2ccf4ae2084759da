//! The list of runs.

use axum::Json;
use axum::extract::State;
use protocol_spec::id::RunId;
use protocol_spec::message::{RunQuery, RunView};

use super::view::{EventShown, RunShown, RunWhole, Runs};
use crate::runs::RUNS_LISTED_MAX;
use crate::web::error::ApiError;
use crate::web::extract::{At, Named};
use crate::web::state::{Shared, Web};

impl Named for RunId {
    fn named(name: &str) -> Result<Self, ApiError> {
        name.parse().map_err(|_| unknown_run())
    }
}

/// Lists the runs, newest first.
pub(super) async fn list(State(web): State<Shared>) -> Result<Json<Runs>, ApiError> {
    let query = RunQuery {
        limit: Some(RUNS_LISTED_MAX),
        ..RunQuery::default()
    };
    let runs = web.broker.runs(query).await?;
    Ok(Json(Runs {
        runs: runs.into_iter().map(RunShown::from).collect(),
    }))
}

/// Returns one run with its events.
pub(super) async fn one(State(web): State<Shared>, At(run): At<RunId>) -> Result<Json<RunWhole>, ApiError> {
    let view = find(&web, run).await?;
    let events = web.read(move |reader| reader.run_events(run)).await?;
    Ok(Json(RunWhole {
        run: view.into(),
        events: events.into_iter().map(EventShown::from).collect(),
    }))
}

/// Finds a run.
pub(super) async fn find(web: &Web, run: RunId) -> Result<RunView, ApiError> {
    let row = web.read(move |reader| reader.one_run(run)).await?;
    row.map(|row| web.broker.view(row)).ok_or_else(unknown_run)
}

fn unknown_run() -> ApiError {
    ApiError::not_found("there is no such run")
}
