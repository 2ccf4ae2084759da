//! Takes over a cloud run without a driver.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::RunId;
use protocol_spec::message::Failure;

use super::list::find;
use crate::runs::take_over;
use crate::web::error::ApiError;
use crate::web::extract::{At, Empty, Sent};
use crate::web::state::Shared;

/// Has the broker watch a run.
pub(super) async fn watch(
    State(web): State<Shared>,
    At(run): At<RunId>,
    Sent(_): Sent<Empty>,
) -> Result<StatusCode, ApiError> {
    let found = find(&web, run).await?;
    if found.run.end.is_some() {
        return Err(conflict("the run is over"));
    }
    if found.followed {
        return Err(conflict("somebody drives the run"));
    }
    take_over(&web.broker, &found.run).await.map_err(unable)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Says that the run is not in a state for this.
pub(super) fn conflict(message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "conflict", message)
}

/// Says why the broker cannot do it itself.
pub(super) fn unable(failure: Failure) -> ApiError {
    let refused = conflict(&failure.message);
    match failure.hint {
        Some(hint) => refused.with_hint(hint),
        None => refused,
    }
}
