//! Webhooks of Cursor's cloud: stored first, answered quickly, and used only as a hint to poll again.

use crate::callback::{
    DELIVERY_ID_HEADER, EVENT_HEADER, RawDelivery, SIGNATURE_HEADER, WEBHOOK_BYTES_MAX, WebhookError,
};
use axum::extract::{Request, State};
use axum::http::StatusCode;

use crate::runs::DeliveryError;
use crate::web::error::ApiError;
use crate::web::extract::collect;
use crate::web::state::Shared;

/// Accepts a webhook.
pub(super) async fn take(State(web): State<Shared>, request: Request) -> Result<StatusCode, ApiError> {
    let (parts, body) = request.into_parts();
    let body = collect(body, WEBHOOK_BYTES_MAX).await?;
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let raw = RawDelivery {
        signature: header(SIGNATURE_HEADER),
        delivery_id: header(DELIVERY_ID_HEADER),
        event: header(EVENT_HEADER),
        body: &body,
    };
    match web.broker.take_delivery(raw).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(DeliveryError::Refused(error)) => Err(refused(&error)),
        Err(DeliveryError::Failed(failure)) => Err(failure.into()),
    }
}

fn refused(error: &WebhookError) -> ApiError {
    let (status, code) = match error {
        WebhookError::Unsigned | WebhookError::BadSignature => (StatusCode::UNAUTHORIZED, "bad_signature"),
        WebhookError::Malformed(_) => (StatusCode::BAD_REQUEST, "bad_request"),
    };
    ApiError::new(status, code, error.to_string())
}
