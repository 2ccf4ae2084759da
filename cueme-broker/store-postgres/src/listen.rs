//! The listener: wakes the engine when other brokers changed something, and keeps this broker's lease.
//!
//! Notifications are hints. The listener also polls the database every two seconds, so without a single notification
//! everything works, only later.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cueme_store::StoreError;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_postgres::AsyncMessage;

use crate::connect::{Driven, Settings};
use crate::fault::Fault;
use crate::lease::{FIND_EXPIRED, LEASE};
use crate::shared::{Head, Shared};
use crate::start_up::configure;
use crate::statements::{Returned, Statements, Step, params};
use crate::transactions::head_of;

/// The channel of all brokers.
const LISTEN: &str = "LISTEN cueme";
const NOTIFY: &str = "NOTIFY cueme";
/// The interval of polling and of renewing the lease: a change whose notification was lost arrives within two seconds.
const POLL_EVERY: Duration = Duration::from_millis(1500);
/// The timeout of a statement of the listener; none of them waits for a transaction of the engine.
const PATIENCE: Duration = Duration::from_secs(4);
/// The backoff before connecting again: at first, and at most.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);
const RECONNECT_AFTER_MAX: Duration = Duration::from_secs(5);

/// The state of the listener.
pub(crate) struct Listener {
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Shared>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
}

impl Listener {
    /// Listens forever, and connects again whenever the connection is lost.
    pub(crate) async fn run(self) {
        let mut pause = RECONNECT_AFTER;
        loop {
            let started = Instant::now();
            if let Err(error) = self.listen().await {
                tracing::warn!(%error, "the listener's connection is lost; connecting again");
            }
            if started.elapsed() > RECONNECT_AFTER_MAX {
                pause = RECONNECT_AFTER;
            }
            sleep(pause).await;
            pause = (pause * 2).min(RECONNECT_AFTER_MAX);
        }
    }

    /// Listens until the connection is lost.
    async fn listen(&self) -> Result<(), StoreError> {
        let (client, connection) = self.settings.connect().await?;
        let (sender, mut notifications) = mpsc::unbounded_channel();
        let driver = tokio::spawn(drive(connection, sender));
        let listened = self.listen_on(Statements::new(client), &mut notifications).await;
        driver.abort();
        listened
    }

    async fn listen_on(
        &self,
        statements: Statements,
        notifications: &mut UnboundedReceiver<i32>,
    ) -> Result<(), StoreError> {
        configure(statements.client(), &self.settings).await?;
        // LISTEN comes first: a change between a poll and LISTEN would wake no broker.
        self.send(&statements, vec![Step::Plain(LISTEN)]).await?;
        let me = self.backend(&statements).await?;
        (self.wake)();
        let mut polls = interval(POLL_EVERY);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let shared = Arc::clone(&self.shared);
            tokio::select! {
                notified = notifications.recv() => match notified {
                    Some(sender) if sender == me => {}
                    Some(_) => (self.wake)(),
                    None => return Ok(()),
                },
                () = shared.bell.notified() => {
                    let rung = self.send(&statements, vec![Step::Plain(NOTIFY)]).await;
                    if rung.is_err() {
                        // The next connection does it.
                        shared.bell.notify_one();
                    }
                    rung?;
                }
                _ = polls.tick() => self.poll(&statements).await?,
            }
        }
    }

    /// Renews the lease and the leadership, and wakes the engine if it has work to do.
    async fn poll(&self, statements: &Statements) -> Result<(), StoreError> {
        if self.shared.has_left() {
            return Ok(());
        }
        let asked_at = (Instant::now(), SystemTime::now());
        let broker = &self.shared.broker;
        let [brokers, leader] = broker.shorten_leases();
        let found = self
            .send(
                statements,
                vec![
                    brokers,
                    leader,
                    broker.renew(),
                    broker.lead(),
                    Step::Prepared(FIND_EXPIRED, params![broker.id]),
                    Step::Prepared("SELECT identity, revision, event, records FROM head", params![]),
                ],
            )
            .await?;
        let [.., renewed, leads, dead, head] = &found[..] else {
            return Ok(());
        };
        let leads = leads.count > 0;
        let is_new = leads && !self.shared.leadership.leads();
        if leads {
            // The lease began after the statement was sent, so it ends later than this.
            self.shared.leadership.lead(asked_at, LEASE);
        }
        // The broker may have left meanwhile.
        if !leads || self.shared.has_left() {
            self.shared.leadership.stop();
        }
        let has_dead = match dead.rows.first() {
            Some(row) => row.try_get(1).map_err(Fault::from)?,
            None => false,
        };
        let head: Head = head_of(Some(head))?;
        if renewed.count == 0 || has_dead || is_new || head != self.shared.head() {
            (self.wake)();
        }
        Ok(())
    }

    async fn backend(&self, statements: &Statements) -> Result<i32, StoreError> {
        let found = self
            .send(
                statements,
                vec![Step::Prepared("SELECT pg_backend_pid()", params![])],
            )
            .await?;
        let row = found.first().and_then(|returned| returned.rows.first());
        Ok(match row {
            Some(row) => row.try_get(0).map_err(Fault::from)?,
            None => 0,
        })
    }

    async fn send(&self, statements: &Statements, steps: Vec<Step>) -> Result<Vec<Returned>, StoreError> {
        match timeout(PATIENCE, statements.send(steps)).await {
            Ok(sent) => sent.map_err(|error| Fault::Postgres(error).into()),
            Err(_) => Err(StoreError::Io {
                doing: "reach",
                path: self.shared.location.clone(),
                source: std::io::ErrorKind::TimedOut.into(),
            }),
        }
    }
}

/// Drives a connection until it is lost, and passes on the process ids of notifications.
pub(crate) async fn drive(mut connection: Driven, notifications: UnboundedSender<i32>) {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(notification)) => {
                // A send error is ignored: a listener is optional.
                let _ = notifications.send(notification.process_id());
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a connection to the database is lost");
                return;
            }
        }
    }
}
