//! Webhooks: verified first, stored before they are answered, and acted on once.

use crate::callback::{Delivery, RawDelivery, WebhookError, check_delivery};
use cloud_settings::{ApiGeneration, Secret};
use protocol_spec::id::RunId;
use protocol_spec::message::{Failure, RunEvent};
use protocol_spec::time::Timestamp;

use crate::broker::Broker;
use crate::store::{Records, StoreError};

/// The reason why a webhook was not accepted.
#[derive(Debug)]
pub(crate) enum DeliveryError {
    /// It was refused.
    Refused(WebhookError),
    /// It could not be stored; the sender will retry.
    Failed(Failure),
}

impl Broker {
    /// Accepts a webhook, and wakes the driver of its run.
    pub(crate) async fn take_delivery(&self, raw: RawDelivery<'_>) -> Result<(), DeliveryError> {
        let delivery = self.verify_delivery(raw).map_err(DeliveryError::Refused)?;
        let (id, session) = (delivery.delivery_id.clone(), delivery.id.clone());
        let status = delivery.status.clone();
        let runs = self
            .keep(move |store, now| keep_delivery(store, now, &delivery))
            .await
            .map_err(DeliveryError::Failed)?;
        let Some(runs) = runs else {
            tracing::info!(%id, %session, "duplicate webhook ignored");
            return Ok(());
        };
        tracing::info!(%id, %session, %status, runs = runs.len(), "webhook received");
        for run in runs {
            self.followers().wake(run, false);
        }
        self.followers().announce();
        Ok(())
    }

    /// Verifies a webhook against every secret that may sign it.
    fn verify_delivery(&self, raw: RawDelivery<'_>) -> Result<Delivery, WebhookError> {
        let mut refusal = match raw.signature {
            Some(_) => WebhookError::BadSignature,
            None => WebhookError::Unsigned,
        };
        for secret in self.webhook_secrets() {
            match check_delivery(&secret, raw) {
                Ok(delivery) => return Ok(delivery),
                // The signature was valid, so no other secret can match.
                Err(error @ WebhookError::Malformed(_)) => return Err(error),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    /// Returns the configured secret, and those of the current drivers.
    fn webhook_secrets(&self) -> Vec<Secret> {
        let variable = |name: &str| std::env::var(name).ok();
        let configured = self
            .config()
            .cloud
            .webhook_secret(ApiGeneration::V0, &variable)
            .ok()
            .flatten();
        let mut secrets = self.followers().secrets();
        if let Some(secret) = configured.filter(|secret| !secrets.contains(secret)) {
            secrets.push(secret);
        }
        secrets
    }
}

/// Stores a delivery; returns the runs it is about, or `None` for a duplicate.
fn keep_delivery(
    store: &dyn Records,
    at: Timestamp,
    delivery: &Delivery,
) -> Result<Option<Vec<RunId>>, StoreError> {
    if !store.keep_delivery(&delivery.delivery_id, &delivery.id, &delivery.status, at)? {
        return Ok(None);
    }
    let runs = store.open_runs_of_session(&delivery.id)?;
    for run in &runs {
        let event = RunEvent {
            at,
            what: "webhook".to_owned(),
            text: delivery.status.clone(),
        };
        store.note_run_event(*run, &event)?;
    }
    Ok(Some(runs))
}
