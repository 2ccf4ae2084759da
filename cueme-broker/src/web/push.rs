//! Pushes to the device that asks: subscribing, trying, ending, and presses on their buttons.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol_spec::id::CueId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::door::Visitor;
use super::error::ApiError;
use super::extract::{Input, Named, Sent};
use super::state::{Shared, Web};
use crate::notify::{
    Pressed, Reasons, Subscription, press, read_subscriptions, setting_name, subscription_of,
};

/// How long a question waits before a device is told, unless its owner chose otherwise.
const AFTER_DEFAULT: Duration = Duration::from_secs(30);
/// The longest that it can wait.
const AFTER_MS_MAX: u64 = 24 * 60 * 60 * 1000;

/// What a browser needs to subscribe, and what its owner chose.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PushState {
    /// The key to subscribe with, in base64url.
    public_key: String,
    /// What the owner of this device chose, if it is subscribed.
    subscription: Option<PushChoices>,
}

/// What the owner of a device chose.
#[derive(Debug, Serialize, JsonSchema)]
struct PushChoices {
    /// Whether the question is shown, also on a lock screen.
    preview: bool,
    after_ms: u64,
    reasons: Reasons,
}

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
    /// How long a question waits first; 30 seconds unless given.
    #[schemars(range(max = 86_400_000))]
    after_ms: Option<u64>,
    /// What the device is told of; everything unless given.
    #[serde(default)]
    reasons: Reasons,
}

impl Input for PushBody {
    const BYTES_MAX: usize = 16 * 1024;
}

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

/// Returns what a browser needs to subscribe.
pub(super) async fn state(State(web): State<Shared>, visitor: Visitor) -> Result<Json<PushState>, ApiError> {
    let device_id = device_of(&visitor)?;
    let subscription = web
        .read(move |reader| subscription_of(reader, &device_id))
        .await?;
    show(&web, subscription).map(Json)
}

/// Subscribes the device that asks, or changes what its owner chose.
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
    // A browser that signed in anew is another device with the same subscription; one of them is told.
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

/// Ends the subscription of the device that asks.
pub(super) async fn unsubscribe(State(web): State<Shared>, visitor: Visitor) -> Result<StatusCode, ApiError> {
    let name = setting_name(&device_of(&visitor)?);
    web.write(move |store, _| store.set(&name, "null")).await?;
    web.broker.push().changed();
    Ok(StatusCode::NO_CONTENT)
}

/// Pushes something to the device that asks.
pub(super) async fn test(State(web): State<Shared>, visitor: Visitor) -> Result<StatusCode, ApiError> {
    let subscription = subscribed(&web, &visitor).await?;
    let sent = web.broker.push().test(&web.broker, &subscription).await;
    sent.map_err(|trouble| ApiError::new(StatusCode::BAD_GATEWAY, "not_sent", trouble.to_string()))?;
    Ok(StatusCode::NO_CONTENT)
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
    };
    press(&web.broker, &subscription, &pressed)
        .await
        .map_err(|why| ApiError::new(StatusCode::CONFLICT, "not_decided", why))?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(web: &Web, subscription: Option<Subscription>) -> Result<PushState, ApiError> {
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

async fn subscribed(web: &Web, visitor: &Visitor) -> Result<Subscription, ApiError> {
    let device_id = device_of(visitor)?;
    let found = web
        .read(move |reader| subscription_of(reader, &device_id))
        .await?;
    found.ok_or_else(|| ApiError::not_found("this device gets no pushes"))
}

fn device_of(visitor: &Visitor) -> Result<String, ApiError> {
    let device = visitor.device_id().map(str::to_owned);
    device.ok_or_else(|| {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "pushes are for browsers that signed in",
        )
    })
}
