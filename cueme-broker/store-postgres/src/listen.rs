//! The listener: wakes the engine when other brokers changed something, and keeps this broker's lease.
//!
//! Notifications are hints. The listener looks at the database every two seconds besides, so without a single notification
//! everything happens all the same, only later.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use cueme_store::StoreError;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_postgres::AsyncMessage;

use crate::connect::{Driven, Settings};
use crate::fault::Fault;
use crate::lease::{LEASE, LOOK};
use crate::shared::{Head, Shared};
use crate::start_up::configure;
use crate::statements::{Returned, Statements, Step, params};
use crate::transactions::head_of;

/// Where everybody listens.
const LISTEN: &str = "LISTEN cueme";
const NOTIFY: &str = "NOTIFY cueme";
/// How often the database is looked at and the lease renewed: what a lost notification delays arrives within two seconds.
const LOOK_EVERY: Duration = Duration::from_millis(1500);
/// How long a statement of the listener may take; none of them waits for a transaction of the engine.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long it waits before it connects again: at first, and at most.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);
const RECONNECT_AFTER_MAX: Duration = Duration::from_secs(5);

/// What the listener works with.
pub(crate) struct Listener {
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Shared>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
    /// Until when this broker leads if nobody is heard of.
    pub(crate) leads_until: Option<Instant>,
}

impl Listener {
    /// Listens for ever, and connects again whenever the connection is lost.
    pub(crate) async fn run(mut self) {
        let mut pause = RECONNECT_AFTER;
        loop {
            let started = Instant::now();
            if let Err(error) = self.listen().await {
                tracing::warn!(%error, "the listener's connection is lost; connecting again");
            }
            if started.elapsed() > RECONNECT_AFTER_MAX {
                pause = RECONNECT_AFTER;
            }
            let until = Instant::now() + pause;
            while Instant::now() < until {
                self.stop_leading_in_time();
                sleep((until - Instant::now()).min(Duration::from_millis(250))).await;
            }
            pause = (pause * 2).min(RECONNECT_AFTER_MAX);
        }
    }

    /// Listens until the connection is lost.
    async fn listen(&mut self) -> Result<(), StoreError> {
        let (client, connection) = self.settings.connect().await?;
        let (sender, mut notifications) = mpsc::unbounded_channel();
        let driver = tokio::spawn(drive(connection, sender));
        let listened = self.listen_on(Statements::new(client), &mut notifications).await;
        driver.abort();
        listened
    }

    async fn listen_on(
        &mut self,
        statements: Statements,
        notifications: &mut UnboundedReceiver<i32>,
    ) -> Result<(), StoreError> {
        configure(statements.client(), &self.settings).await?;
        // Listening comes first: what happens between a look and LISTEN would wake nobody.
        self.send(&statements, vec![Step::Plain(LISTEN)]).await?;
        let me = self.backend(&statements).await?;
        (self.wake)();
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
                _ = looks.tick() => self.look(&statements).await?,
            }
        }
    }

    /// Renews the lease and the leadership, and wakes the engine if there is something to do for it.
    async fn look(&mut self, statements: &Statements) -> Result<(), StoreError> {
        self.stop_leading_in_time();
        if self.shared.has_left() {
            return Ok(());
        }
        let asked_at = Instant::now();
        let broker = &self.shared.broker;
        let found = self
            .send(
                statements,
                vec![
                    broker.renew(),
                    broker.lead(),
                    Step::Prepared(LOOK, params![broker.id]),
                    Step::Prepared("SELECT identity, revision, event, records FROM head", params![]),
                ],
            )
            .await?;
        let [renewed, leads, dead, head] = &found[..] else {
            return Ok(());
        };
        // The lease began after the question was sent, so it ends later than this.
        self.leads_until = (leads.count > 0).then_some(asked_at + LEASE);
        let is_new = self.leads_until.is_some() && !self.shared.leadership.leads();
        self.shared.leadership.set(self.leads_until.is_some());
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

    /// Gives the leadership up when it was not renewed in time: another broker may have it.
    fn stop_leading_in_time(&mut self) {
        if self.leads_until.is_some_and(|until| Instant::now() >= until) {
            self.leads_until = None;
            self.shared.leadership.set(false);
        }
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

/// Drives a connection, and passes on who notifies, until it is lost.
pub(crate) async fn drive(mut connection: Driven, notifications: UnboundedSender<i32>) {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(notification)) => {
                // Nobody has to listen.
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
