//! Webhooks: believed only when they are signed, kept before they are answered, acted on once.

use crate::callback::{Delivery, RawDelivery, WebhookError, check_delivery};
use cloud_settings::{ApiGeneration, Secret};
use protocol_spec::id::RunId;
use protocol_spec::message::{Failure, RunEvent};
use protocol_spec::time::Timestamp;

use crate::broker::Broker;
use crate::store::{Records, StoreError};

/// Why a webhook was not taken.
#[derive(Debug)]
pub(crate) enum Undelivered {
    /// It was refused.
    Refused(WebhookError),
    /// It could not be kept; it will be sent again.
    Failed(Failure),
}

impl Broker {
    /// Takes a webhook in, and wakes whoever drives the run it is about.
    pub(crate) async fn take_delivery(&self, raw: RawDelivery<'_>) -> Result<(), Undelivered> {
        let delivery = self.verify_delivery(raw).map_err(Undelivered::Refused)?;
        let (id, session) = (delivery.delivery_id.clone(), delivery.id.clone());
        let status = delivery.status.clone();
        let runs = self
            .keep(move |store, now| keep_delivery(store, now, &delivery))
            .await
            .map_err(Undelivered::Failed)?;
        let Some(runs) = runs else {
            tracing::info!(%id, %session, "a webhook came again");
            return Ok(());
        };
        tracing::info!(%id, %session, %status, runs = runs.len(), "a webhook came");
        for run in runs {
            self.followers().wake(run, false);
        }
        self.followers().announce();
        Ok(())
    }

    /// Checks a webhook against everything it may be signed with.
    fn verify_delivery(&self, raw: RawDelivery<'_>) -> Result<Delivery, WebhookError> {
        let mut refusal = match raw.signature {
            Some(_) => WebhookError::BadSignature,
            None => WebhookError::Unsigned,
        };
        for secret in self.webhook_secrets() {
            match check_delivery(&secret, raw) {
                Ok(delivery) => return Ok(delivery),
                // The signature was right, and nothing else can be.
                Err(error @ WebhookError::Malformed(_)) => return Err(error),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    /// Returns the configured secret, and those of whoever drives a run now.
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

/// Keeps a delivery; returns the runs it is about, or nothing when it was here before.
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
