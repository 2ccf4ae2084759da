//! Returns what a device needs to get pushes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::notify::{Reasons, Subscription, subscription_of};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::state::{Shared, Web};

/// The data that a browser needs to subscribe, and its owner's choices.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PushState {
    /// The key to subscribe with, in base64url.
    public_key: String,
    /// The choices of this device's owner, if it is subscribed.
    subscription: Option<PushChoices>,
}

/// The choices of a device's owner.
#[derive(Debug, Serialize, JsonSchema)]
struct PushChoices {
    /// Whether the question is shown, also on a lock screen.
    preview: bool,
    after_ms: u64,
    reasons: Reasons,
}

/// Returns the data that a browser needs to subscribe.
pub(super) async fn state(State(web): State<Shared>, visitor: Visitor) -> Result<Json<PushState>, ApiError> {
    let device_id = device_of(&visitor)?;
    let subscription = web
        .read(move |reader| subscription_of(reader, &device_id))
        .await?;
    show(&web, subscription).map(Json)
}

pub(super) fn show(web: &Web, subscription: Option<Subscription>) -> Result<PushState, ApiError> {
    let public_key = web.broker.push().public_key(&web.broker);
    let public_key = public_key
        .map_err(|trouble| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "storage", trouble.to_string()))?;
    Ok(PushState {
        public_key,
        subscription: subscription.map(|chosen| PushChoices {
            preview: chosen.preview,
            after_ms: chosen.after_ms,
            reasons: chosen.reasons,
        }),
    })
}

pub(super) async fn subscribed(web: &Web, visitor: &Visitor) -> Result<Subscription, ApiError> {
    let device_id = device_of(visitor)?;
    let found = web
        .read(move |reader| subscription_of(reader, &device_id))
        .await?;
    found.ok_or_else(|| ApiError::not_found("this device gets no pushes"))
}

pub(super) fn device_of(visitor: &Visitor) -> Result<String, ApiError> {
    let device = visitor.device_id().map(str::to_owned);
    device.ok_or_else(|| {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "pushes are for browsers that signed in",
        )
    })
}
