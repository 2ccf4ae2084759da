//! Stops a run by telling whoever drives it.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::RunId;

use super::list::find;
use crate::web::decide::Empty;
use crate::web::error::ApiError;
use crate::web::extract::{At, Sent};
use crate::web::state::Shared;

/// Stops a run.
pub(super) async fn stop(
    State(web): State<Shared>,
    At(run): At<RunId>,
    Sent(_): Sent<Empty>,
) -> Result<StatusCode, ApiError> {
    find(&web, run).await?;
    if !web.broker.followers().wake(run, true) {
        let nobody = ApiError::new(
            StatusCode::CONFLICT,
            "conflict",
            "nobody drives this run any more",
        );
        return Err(nobody.with_hint("`cueme cloud stop` stops what still goes on in the cloud"));
    }
    web.broker
        .note_run(run, "status", "a human asked to stop it".to_owned())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
