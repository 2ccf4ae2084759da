//! Subscribes the requesting device, or changes its owner's choices.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::state::{PushState, device_of, show};
use crate::notify::{Reasons, Subscription, read_subscriptions, setting_name};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::{Input, Sent};
use crate::web::state::Shared;

/// The default delay before a device is notified.
const AFTER_DEFAULT: Duration = Duration::from_secs(30);
/// The longest delay.
const AFTER_MS_MAX: u64 = 24 * 60 * 60 * 1000;

/// A browser's subscription.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PushBody {
    endpoint: String,
    p256dh: String,
    auth: String,
    /// Whether the question is shown, also on a lock screen.
    #[serde(default)]
    preview: bool,
    /// The delay before a question is notified; 30 seconds unless given.
    #[schemars(range(max = 86_400_000))]
    after_ms: Option<u64>,
    /// The reasons to notify; all of them unless given.
    #[serde(default)]
    reasons: Reasons,
}

impl Input for PushBody {
    const BYTES_MAX: usize = 16 * 1024;
}

/// Subscribes the requesting device, or changes its owner's choices.
pub(super) async fn subscribe(
    State(web): State<Shared>,
    visitor: Visitor,
    Sent(body): Sent<PushBody>,
) -> Result<Json<PushState>, ApiError> {
    let after_ms = body.after_ms.unwrap_or(AFTER_DEFAULT.as_millis() as u64);
    if after_ms > AFTER_MS_MAX {
        return Err(ApiError::bad_request(format!(
            "after_ms is more than {AFTER_MS_MAX}"
        )));
    }
    let subscription = Subscription {
        device_id: device_of(&visitor)?,
        endpoint: body.endpoint,
        p256dh: body.p256dh,
        auth: body.auth,
        preview: body.preview,
        after_ms,
        reasons: body.reasons,
    };
    let push = web.broker.push();
    push.check(&web.broker, &subscription)
        .map_err(ApiError::bad_request)?;
    let stored = serde_json::to_string(&subscription)
        .map_err(|error| ApiError::bad_request(format!("the subscription cannot be written: {error}")))?;
    // A browser that signed in again is another device with the same subscription; only one of them is notified.
    let (id, endpoint) = (subscription.device_id.clone(), subscription.endpoint.clone());
    let others = web.read(read_subscriptions).await?.into_iter();
    let others: Vec<String> = others
        .filter(|other| other.endpoint == endpoint && other.device_id != id)
        .map(|other| setting_name(&other.device_id))
        .collect();
    web.write(move |store, _| {
        for other in &others {
            store.set(other, "null")?;
        }
        store.set(&setting_name(&id), &stored)
    })
    .await?;
    push.changed();
    show(&web, Some(subscription)).map(Json)
}
