//! Decides when to notify and when to withdraw.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol_spec::id::CueId;
use protocol_spec::message::EventKind;
use protocol_spec::outcome::Outcome;
use protocol_spec::visible::{has_hidden, visible};
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::busy::Busy;
use super::channel::{Channel, ChannelKind};
use super::desktop;
use super::notice::Notice;
use super::reason::{Reason, Reasons};
use super::send::Sender;
use super::surface::push::{Subscription, read_subscriptions};
use super::surface::{Surfaces, Withdrawal};
use crate::broker::{Broker, wall_clock};
use crate::hours::minute_now;
use crate::settings::Settings;
use crate::store::{AgentRow, CueRow, Notified, Reader, StoreError};

/// The delay before a question is shown on the screen.
const DESKTOP_AFTER: Duration = Duration::from_secs(20);
/// The most notifications that wait for their time.
const PENDING_MAX: usize = 10_000;
/// The most notifications sent at once.
const SENDING_MAX: usize = 8;
/// The interval of checking whether quiet hours are over.
const QUIET_LOOK: Duration = Duration::from_secs(60);

/// Watches for unanswered questions, for as long as the broker runs.
pub(crate) async fn watch(broker: Arc<Broker>) {
    let watcher = Arc::new(Watcher {
        surfaces: Surfaces::new(Arc::clone(&broker)),
        broker,
        sender: Sender::default(),
        devices: Mutex::default(),
        told: Mutex::default(),
        held: Mutex::default(),
        busy: Mutex::default(),
        pending: AtomicUsize::new(0),
        sending: Semaphore::new(SENDING_MAX),
    });
    // On return, the listeners stop, because the next leader listens in their place.
    let _stop = StopSurfaces(Arc::clone(&watcher));
    let mut events = watcher.broker.engine().events();
    let mut configured = watcher.broker.config_changes();
    let mut subscribed = watcher.broker.push().changes();
    let mut quiet_look = tokio::time::interval(QUIET_LOOK);
    quiet_look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    watcher.resync().await;
    loop {
        let received = tokio::select! {
            received = events.recv() => received,
            _ = quiet_look.tick() => {
                watcher.look_after_quiet().await;
                continue;
            }
            Ok(()) = configured.changed() => {
                watcher.resync().await;
                continue;
            }
            Ok(()) = subscribed.changed() => {
                watcher.resync().await;
                continue;
            }
        };
        match received {
            Ok(events) => {
                for event in &*events {
                    if let Some(cue) = event.cue_id {
                        watcher.react(event.what, cue);
                    }
                }
            }
            Err(RecvError::Lagged(_)) => watcher.look_at_all().await,
            Err(RecvError::Closed) => return,
        }
    }
}

struct StopSurfaces(Arc<Watcher>);

impl Drop for StopSurfaces {
    fn drop(&mut self) {
        self.0.surfaces.stop();
    }
}

struct Watcher {
    broker: Arc<Broker>,
    sender: Sender,
    surfaces: Surfaces,
    /// The devices that get pushes.
    devices: Mutex<Vec<Channel>>,
    /// The questions with a notification sent or being sent; all others end without a database read.
    told: Mutex<HashSet<CueId>>,
    /// The channels that kept back a notification during quiet hours.
    held: Mutex<HashSet<String>>,
    /// The notifications being sent or withdrawn, by channels that only notify.
    busy: Mutex<HashSet<(CueId, String)>>,
    pending: AtomicUsize,
    sending: Semaphore,
}

impl Watcher {
    /// Applies a change of channels. A new channel is notified of open questions, too.
    async fn resync(self: &Arc<Self>) {
        self.sync().await;
        self.look_at_all().await;
    }

    /// Starts and stops surfaces to match the configuration.
    async fn sync(&self) {
        if let Some(devices) = self.read(read_subscriptions).await {
            let devices = devices.into_iter().map(Subscription::channel).collect();
            *self.devices.lock().unwrap_or_else(PoisonError::into_inner) = devices;
        }
        let channels = self.channels();
        if !channels.iter().any(|channel| channel.kind.takes_answers()) {
            return self.surfaces.stop();
        }
        match self.sender.client().await {
            Ok(client) => self.surfaces.sync(&channels, client),
            Err(error) => tracing::error!(%error, "no channel can be used"),
        }
    }

    fn react(self: &Arc<Self>, what: EventKind, cue: CueId) {
        match what {
            EventKind::Asked | EventKind::Reopened => self.schedule(cue, Duration::ZERO),
            EventKind::Answered | EventKind::Declined | EventKind::Cancelled | EventKind::Superseded
                if self.told().contains(&cue) =>
            {
                let watcher = Arc::clone(self);
                tokio::spawn(async move { watcher.withdraw(cue).await });
            }
            EventKind::Answered
            | EventKind::Declined
            | EventKind::Cancelled
            | EventKind::Superseded
            | EventKind::Joined
            | EventKind::Delivered
            | EventKind::Said
            | EventKind::Waiting
            | EventKind::Detached
            | EventKind::Released
            | EventKind::Queue
            | EventKind::Changed => {}
        }
    }

    /// Handles the questions that were asked and answered while the broker did not watch.
    async fn look_at_all(self: &Arc<Self>) {
        let read = self.read(|reader| Ok((reader.answerable(None)?, reader.notified()?)));
        let Some((open, notified)) = read.await else {
            return;
        };
        for cue in &open {
            let age = Duration::from_millis(wall_clock().millis_since(cue.asked_at));
            self.schedule(cue.cue_id, age);
        }
        self.told().extend(notified.iter().map(|sent| sent.cue));
        for sent in notified {
            if !open
                .iter()
                .any(|cue| cue.cue_id == sent.cue && cue.outcome == Outcome::Open)
            {
                let watcher = Arc::clone(self);
                tokio::spawn(async move { watcher.withdraw(sent.cue).await });
            }
        }
    }

    /// Starts the delay of each channel, less the age of the question.
    fn schedule(self: &Arc<Self>, cue: CueId, age: Duration) {
        for channel in self.channels() {
            if self.pending.fetch_add(1, Ordering::Relaxed) >= PENDING_MAX {
                self.pending.fetch_sub(1, Ordering::Relaxed);
                return tracing::warn!("too many notifications wait already");
            }
            let watcher = Arc::clone(self);
            tokio::spawn(async move {
                tokio::time::sleep(channel.after.saturating_sub(age)).await;
                watcher.tell(&channel.name, cue).await;
                watcher.pending.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// Returns the channels of the configuration, the devices that get pushes, and the screen where there is one.
    fn channels(&self) -> Vec<Channel> {
        let mut channels = self.broker.config().notify.clone();
        channels.extend(
            self.devices
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .cloned(),
        );
        let has_desktop = channels
            .iter()
            .any(|channel| channel.kind == ChannelKind::Desktop);
        if !has_desktop && desktop::has_session() {
            channels.push(Channel {
                name: "desktop".to_owned(),
                kind: ChannelKind::Desktop,
                after: DESKTOP_AFTER,
                quiet: None,
                preview: true,
                reasons: Reasons::default(),
            });
        }
        channels
    }

    /// Checks all questions again when the quiet hours of a channel that kept back a notification are over.
    async fn look_after_quiet(self: &Arc<Self>) {
        if self.held().is_empty() {
            return;
        }
        let Some(settings) = self.read(Settings::read).await else {
            return;
        };
        let (channels, minute) = (self.channels(), minute_now());
        let is_still_quiet = |name: &String| {
            let mut channels = channels.iter();
            channels.any(|channel| channel.name == *name && is_quiet(channel, &settings, minute))
        };
        let is_over = {
            let mut held = self.held();
            let before = held.len();
            held.retain(is_still_quiet);
            held.len() < before
        };
        if is_over {
            self.look_at_all().await;
        }
    }

    /// Sends a notification, if the question is still open and none was sent there.
    async fn tell(self: &Arc<Self>, name: &str, cue: CueId) {
        if !self.broker.engine().leads() {
            return;
        }
        // As it is now: it may have been changed or removed while the question waited.
        let Some(channel) = self.channels().into_iter().find(|known| known.name == name) else {
            return;
        };
        let name = channel.name.clone();
        let read = self.read(move |reader| still_waiting(reader, cue, &name));
        let Some(Some((row, agent, settings))) = read.await else {
            return;
        };
        let is_off = channel.kind == ChannelKind::Desktop && !settings.shows_on_desktop();
        if is_off || !channel.reasons.contains(Reason::of(row.kind, row.origin)) {
            return;
        }
        if is_quiet(&channel, &settings, minute_now()) {
            self.held().insert(channel.name);
            return;
        }
        self.told().insert(cue);
        match self.surfaces.find(&channel.name) {
            Some(surface) => surface.show(cue).await,
            None => {
                let notice = self.notice(&row, &agent, &channel);
                self.send(&channel, &notice, cue).await;
            }
        }
        // An answer that came during the sending found no message to withdraw yet.
        let has_ended = self.read(move |reader| {
            Ok(reader
                .cue_row(cue)?
                .is_none_or(|row| row.outcome != Outcome::Open))
        });
        if has_ended.await == Some(true) {
            self.withdraw(cue).await;
        }
    }

    /// Sends to a channel that only notifies.
    async fn send(&self, channel: &Channel, notice: &Notice, cue: CueId) {
        let Ok(_turn) = self.sending.acquire().await else {
            return;
        };
        let Some(_busy) = Busy::take(&self.busy, (cue, channel.name.clone())) else {
            return;
        };
        let name = channel.name.clone();
        // Claimed first: after a crash in between, it is not sent a second time.
        let claimed = self
            .broker
            .engine()
            .write(move |store, now| store.claim_notice(cue, &name, now));
        if !matches!(claimed.await, Ok(Ok(true))) {
            return;
        }
        let name = channel.name.clone();
        match self.sender.send(channel, notice).await {
            Ok(None) => {}
            Ok(Some(reference)) => {
                // If this is lost, it is not withdrawn.
                let _ = self
                    .broker
                    .engine()
                    .write(move |store, _| store.keep_reference(cue, &name, &reference))
                    .await;
            }
            Err(error) => {
                tracing::warn!(channel = channel.name, %error, "a notification was not sent");
                let _ = self
                    .broker
                    .engine()
                    .write(move |store, _| store.forget_notice(cue, &name))
                    .await;
            }
        }
    }

    /// Withdraws a question that has ended, from all channels at once: a slow one delays no other.
    async fn withdraw(self: &Arc<Self>, cue: CueId) {
        let read = self.read(move |reader| {
            let mut sent = reader.notified()?;
            sent.retain(|sent| sent.cue == cue);
            Ok(sent)
        });
        let Some(sent) = read.await else { return };
        let outcome: Arc<str> = self.outcome(cue).await.into();
        let channels = self.channels();
        let mut withdrawals = JoinSet::new();
        for sent in sent {
            let channel = channels.iter().find(|known| known.name == sent.channel).cloned();
            let (watcher, outcome) = (Arc::clone(self), Arc::clone(&outcome));
            withdrawals.spawn(async move { watcher.withdraw_from(channel, sent, &outcome).await });
        }
        let all = withdrawals.join_all().await;
        if all.contains(&Withdrawal::Busy) {
            return;
        }
        self.told().remove(&cue);
        let is_open = self.read(move |reader| reader.cue_row(cue)).await.flatten();
        if is_open.is_some_and(|row| row.outcome == Outcome::Open) {
            // It was opened again meanwhile.
            self.schedule(cue, Duration::ZERO);
        }
    }

    async fn withdraw_from(&self, channel: Option<Channel>, sent: Notified, outcome: &str) -> Withdrawal {
        if let Some(surface) = self.surfaces.find(&sent.channel) {
            return surface.withdraw(sent.cue).await;
        }
        let Some(_busy) = Busy::take(&self.busy, (sent.cue, sent.channel.clone())) else {
            return Withdrawal::Busy;
        };
        let (cue, name) = (sent.cue, sent.channel.clone());
        let notice = self.read(move |reader| reader.notice(cue, &name)).await.flatten();
        if let (Some(channel), Some(reference)) = (channel, notice.and_then(|notice| notice.reference))
            && let Err(error) = self.sender.take_back(&channel, &reference, outcome).await
        {
            tracing::debug!(channel = channel.name, %error, "a notification was not withdrawn");
        }
        // If this is lost, the next start tries to withdraw it again.
        let _ = self
            .broker
            .engine()
            .write(move |store, _| store.forget_notice(sent.cue, &sent.channel))
            .await;
        Withdrawal::Done
    }

    /// Returns how a question ended, in one word.
    async fn outcome(&self, cue: CueId) -> String {
        let row = self.read(move |reader| reader.cue_row(cue)).await.flatten();
        let name = serde_json::to_value(row.map(|row| row.outcome)).ok();
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_else(|| "gone".to_owned())
    }

    fn told(&self) -> MutexGuard<'_, HashSet<CueId>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, HashSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, cue: &CueRow, agent: &AgentRow, channel: &Channel) -> Notice {
        let project = agent.project_name();
        let name = agent.name.as_deref().unwrap_or(agent.agent_id.as_str());
        let question = channel.preview.then_some(cue.beginning.as_str());
        Notice {
            cue_id: cue.cue_id.into(),
            agent_id: agent.agent_id.to_string(),
            agent: visible(name).into_owned(),
            runtime: agent.runtime.to_string(),
            project: visible(project).into_owned(),
            question: question.map(|question| visible(question).into_owned()),
            spelled_out: [name, project, question.unwrap_or_default()]
                .into_iter()
                .any(has_hidden),
            asked_at: cue.asked_at.to_string(),
            url: self
                .broker
                .page_url()
                .map(|url| format!("{url}/#/cue/{}", cue.cue_id)),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        self.broker
            .read(read)
            .await
            .inspect_err(|failure| tracing::warn!(%failure, "a notification could not be prepared"))
            .ok()
    }
}

/// Says whether a channel has quiet hours at this minute of the day.
fn is_quiet(channel: &Channel, settings: &Settings, minute: u16) -> bool {
    let follows_page = matches!(channel.kind, ChannelKind::Desktop | ChannelKind::Push(_));
    channel.quiet.is_some_and(|hours| hours.contains(minute)) || (follows_page && settings.is_quiet(minute))
}

/// Returns the notice of a question, if it is open and this channel has not notified of it.
fn still_waiting(
    reader: &dyn Reader,
    cue: CueId,
    channel: &str,
) -> Result<Option<(CueRow, AgentRow, Settings)>, StoreError> {
    let Some(row) = reader.cue_row(cue)?.filter(|row| row.outcome == Outcome::Open) else {
        return Ok(None);
    };
    let was_told = reader
        .notified()?
        .iter()
        .any(|sent| sent.cue == cue && sent.channel == channel);
    let agent = reader.agent_rows(Some(&row.agent_id))?.pop();
    let settings = Settings::read(reader)?;
    Ok(agent.filter(|_| !was_told).map(|agent| (row, agent, settings)))
}
