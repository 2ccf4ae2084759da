//! Decides a question as a button of its notification says.

use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::CueId;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::state::subscribed;
use crate::notify::{Pressed, press};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Named, Sent};
use crate::web::state::Shared;

/// A press on a button of a notification.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PressBody {
    /// The key of the decision, as the push named it.
    id: Uuid,
    cue_id: String,
    /// The button, as the push named it.
    press: String,
}

impl Input for PressBody {
    const BYTES_MAX: usize = 4 * 1024;
}

/// Decides a question as a button of its notification says.
pub(super) async fn pressed(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<PressBody>,
) -> Result<StatusCode, ApiError> {
    let subscription = subscribed(&web, &visitor).await?;
    let by = visitor.name().unwrap_or_default();
    let pressed = Pressed {
        cue: CueId::named(&body.cue_id)?,
        press: &body.press,
        id: body.id,
        by: &by,
        pass: visitor.pass(),
    };
    press(&web.broker, &subscription, &pressed)
        .await
        .map_err(|why| ApiError::new(StatusCode::CONFLICT, "not_decided", why))?;
    Ok(StatusCode::NO_CONTENT)
}
