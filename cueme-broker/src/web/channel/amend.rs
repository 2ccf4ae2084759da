//! Changes what a channel is about.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::configure::configure;
use super::list::{ChannelShown, find};
use crate::notify::{Reasons, set_reasons};
use crate::web::error::ApiError;
use crate::web::extract::{At, Input, Sent};
use crate::web::state::Shared;

/// The properties that can be changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelPatch {
    reasons: Reasons,
}

impl Input for ChannelPatch {}

/// Changes the reasons of a channel.
pub(super) async fn amend(
    State(web): State<Shared>,
    At(name): At<String>,
    Sent(body): Sent<ChannelPatch>,
) -> Result<Json<ChannelShown>, ApiError> {
    let changed = name.clone();
    configure(&web, move |places| set_reasons(places, &changed, &body.reasons)).await?;
    Ok(Json(ChannelShown::new(&find(&web, &name)?)))
}
