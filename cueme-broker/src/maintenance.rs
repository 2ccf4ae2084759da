//! Tasks that the broker runs by itself: leaving when idle, deleting old questions, returning space.

use std::sync::Arc;
use std::time::Duration;

use protocol_spec::message::Failure;
use protocol_spec::time::Timestamp;

use crate::broker::{Broker, StopReason, wall_clock};
use crate::engine::{EngineError, storage_failure};

impl Broker {
    /// Waits until this broker leads the others, or does not any more.
    async fn until_it_leads(&self, leads: bool) {
        /// The polling interval.
        const LOOK_AGAIN: Duration = Duration::from_millis(250);
        while self.engine().leads() != leads {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Deletes delivered questions older than `age`, or only counts them.
    pub(crate) async fn purge(&self, age: Duration, dry_run: bool) -> Result<u64, Failure> {
        let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(wall_clock().as_millis().saturating_sub(age_ms));
        let mut total = 0;
        loop {
            // One batch at a time, so that questions are asked and answered in between.
            let purged = self
                .engine()
                .write_even_if_full(move |records, _| match dry_run {
                    true => records.count_purgeable(before).map(|count| (count, false)),
                    false => records.purge_some(before),
                })
                .await;
            let (count, more) = purged?.map_err(|error| storage_failure(&error))?;
            total += count;
            if !more {
                return Ok(total);
            }
        }
    }

    /// Returns empty space of the database beyond the allowed share to the file system.
    pub(crate) async fn shrink(&self) {
        /// The pause between two pieces, during which the engine serves other work.
        const PAUSE: Duration = Duration::from_millis(10);
        let Some(empty_percent_max) = self.config().vacuum else {
            return;
        };
        loop {
            let shrunk = self
                .engine()
                .write(move |records, _| records.shrink_some(empty_percent_max))
                .await;
            match shrunk {
                Ok(Ok(true)) => tokio::time::sleep(PAUSE).await,
                Ok(Ok(false)) | Err(EngineError) => return,
                // The next call retries.
                Ok(Err(error)) => {
                    return tracing::warn!(%error, "could not give empty space back to the disk");
                }
            }
        }
    }
}

/// Stops the broker when it was idle for the configured time.
pub(crate) async fn leave_when_idle(broker: Arc<Broker>) {
    /// The interval of checking the configuration when it sets no limit.
    const LOOK_AGAIN: Duration = Duration::from_secs(60);
    loop {
        let nap = match broker.config().idle_exit {
            None => LOOK_AGAIN,
            Some(limit) => {
                let idle = broker.idle_for();
                if idle >= limit && broker.status().await.is_ok_and(|status| status.waiting == 0) {
                    broker.stop(StopReason::Idle);
                    return;
                }
                limit
                    .saturating_sub(idle)
                    .clamp(Duration::from_millis(100), LOOK_AGAIN)
            }
        };
        tokio::time::sleep(nap).await;
    }
}

/// Runs the tasks of the leader among several brokers, for as long as this one leads.
pub(crate) async fn while_leading<F: Future<Output = ()>>(
    broker: Arc<Broker>,
    task: impl Fn(Arc<Broker>) -> F,
) {
    loop {
        broker.until_it_leads(true).await;
        tokio::select! {
            // It ends by itself when the broker does.
            () = task(Arc::clone(&broker)) => return,
            () = broker.until_it_leads(false) => {}
        }
    }
}

/// Periodically deletes questions past the configured age, and returns their space.
pub(crate) async fn forget_when_old(broker: Arc<Broker>) {
    const EVERY: Duration = Duration::from_secs(6 * 60 * 60);
    loop {
        if let Some(age) = broker.config().retention {
            match broker.purge(age, false).await {
                Ok(0) => {}
                Ok(cues) => tracing::info!(cues, "deleted questions beyond the retention"),
                Err(failure) => tracing::warn!(%failure, "could not delete old questions"),
            }
        }
        crate::attachments::tidy(&broker).await;
        broker.shrink().await;
        tokio::time::sleep(EVERY).await;
    }
}
