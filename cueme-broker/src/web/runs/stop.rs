//! Stops a run: through its driver, or in the cloud itself if it has none.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::RunId;

use super::list::find;
use super::watch::{conflict, unable};
use crate::runs::stop_in_cloud;
use crate::web::error::ApiError;
use crate::web::extract::{At, Empty, Sent};
use crate::web::state::Shared;

/// Stops a run.
pub(super) async fn stop(
    State(web): State<Shared>,
    At(run): At<RunId>,
    Sent(_): Sent<Empty>,
) -> Result<StatusCode, ApiError> {
    let found = find(&web, run).await?;
    if found.run.end.is_some() {
        return Err(conflict("the run is over"));
    }
    if !web.broker.followers().wake(run, true) {
        return match stop_in_cloud(&web.broker, found.run).await {
            Ok(()) => Ok(StatusCode::NO_CONTENT),
            Err(failure) => Err(unable(failure)),
        };
    }
    web.broker
        .note_run(run, "status", "a human asked to stop it".to_owned())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
