//! The engine's thread and the handle others hold.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cueme_rules::{Now, Ticket};
use cueme_store::{Leadership, Pass, Records, Storage, StoreError};
use protocol_spec::id::RequestId;
use protocol_spec::message::{EventView, Reply};
use protocol_spec::time::Timestamp;
use thiserror::Error;
use tokio::sync::{broadcast, mpsc as caller, oneshot, watch};
use uuid::Uuid;

use super::core::{Batch, CommitOutput, Core, Entry, Random};
use super::order::{Line, Order, Work};
use super::write::{DiskReserve, Write};

/// How many orders are committed together.
const BATCH_MAX: usize = 512;
/// A commit that took at least this long is worth sharing with those who come a moment later …
const SLOW_COMMIT: Duration = Duration::from_millis(2);
/// … if at least so many shared the last one …
const SHARED_MIN: usize = 8;
/// … and they are waited for this part of the time it took.
const GATHERING_SHARE: u32 = 8;
/// This long at most.
const GATHERING_MAX: Duration = Duration::from_millis(2);
/// How many commits a watcher may fall behind before it is told to read the state anew.
const COMMITS_KEPT: usize = 256;
/// How long the engine is idle before it indexes what was written.
const INDEX_AFTER_IDLE: Duration = Duration::from_millis(50);
/// The same after it failed.
const INDEX_RETRY_AFTER: Duration = Duration::from_secs(5);
/// How long the engine waits before it tries again what failed by itself.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// The running engine.
#[derive(Debug)]
pub struct Engine {
    handle: EngineHandle,
    thread: Option<JoinHandle<()>>,
}

/// What everybody else holds of the engine.
#[derive(Debug, Clone)]
pub struct EngineHandle {
    inbox: Sender<Message>,
    tickets: Arc<AtomicU64>,
    events: broadcast::Sender<Events>,
    foreign_records: watch::Sender<()>,
    leadership: Leadership,
    is_shared: bool,
    trouble: Arc<Mutex<Option<String>>>,
}

/// The engine does not answer any more.
#[derive(Debug, Error)]
#[error("the broker is stopping")]
pub struct EngineError;

/// What happened in one commit: told at once, so that a watcher is woken once.
pub type Events = Arc<[EventView]>;

/// Boxed lines: a channel has room for thirty-two from its first moment on, and everybody who waits has a channel.
type Caller = caller::UnboundedSender<Box<Line>>;
type Look = Box<dyn FnOnce(&mut Core) + Send>;

enum Message {
    Order {
        order: Order,
        caller: Option<Caller>,
        /// Runs before it, in the same commit.
        write: Option<Write<'static>>,
        /// By what the caller was let in.
        pass: Option<Box<Pass>>,
    },
    Write(Write<'static>),
    Look(Look),
    Stop(oneshot::Sender<()>),
}

impl Engine {
    /// Opens the store and starts the thread.
    pub fn start(storage: Box<dyn Storage>, was_clean: bool) -> Result<Self, StoreError> {
        let clock = Clock::start();
        let (leadership, is_shared) = (storage.leadership(), storage.is_shared());
        let mut core = Core::open(storage, was_clean, clock.now(), system_random())?;
        let (sender, inbox) = mpsc::channel();
        let wake = sender.clone();
        // An engine that has ended needs no waking.
        core.listen(Box::new(move || drop(wake.send(tick()))));
        let (events, _) = broadcast::channel(COMMITS_KEPT);
        let trouble = Arc::default();
        let handle = EngineHandle {
            inbox: sender,
            tickets: Arc::new(AtomicU64::new(1)),
            events: events.clone(),
            foreign_records: watch::channel(()).0,
            leadership,
            is_shared,
            trouble: Arc::clone(&trouble),
        };
        let engine = EngineLoop {
            core,
            clock,
            inbox,
            callers: HashMap::new(),
            events,
            foreign_records: handle.foreign_records.clone(),
            trouble,
            retry_at: None,
            gathering: Duration::ZERO,
        };
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || engine.run())
            .map_err(|source| StoreError::Io {
                doing: "start the engine",
                path: PathBuf::new(),
                source,
            })?;
        Ok(Self {
            handle,
            thread: Some(thread),
        })
    }

    /// Returns a handle.
    pub fn handle(&self) -> EngineHandle {
        self.handle.clone()
    }

    /// Says whether the thread has ended, which it does by itself only when it panicked.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Commits what has arrived, checkpoints the log and ends the thread.
    pub fn stop(mut self) {
        let (done, _) = oneshot::channel();
        // If the inbox is closed the thread is gone already.
        let _ = self.handle.inbox.send(Message::Stop(done));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl EngineHandle {
    /// Draws a ticket for a new call.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.tickets.fetch_add(1, Ordering::Relaxed))
    }

    /// Hands in an order whose replies go to `caller`.
    pub fn order(&self, order: Order, caller: Caller) -> Result<(), EngineError> {
        self.order_by(None, None, order, caller)
    }

    /// Submits the order of a caller with a pass; it is refused if the pass was revoked before the transaction.
    ///
    /// `write` runs before it, in the same commit. The order is carried out also when the write fails.
    pub fn order_by(
        &self,
        pass: Option<Pass>,
        write: Option<Write<'static>>,
        order: Order,
        caller: Caller,
    ) -> Result<(), EngineError> {
        let caller = Some(caller);
        self.send(Message::Order {
            order,
            caller,
            write,
            pass: pass.map(Box::new),
        })
    }

    /// Says that a caller is gone.
    pub fn gone(&self, ticket: Ticket) {
        self.tell(ticket, Work::Gone);
    }

    /// Says that a human was seen.
    pub fn human_seen(&self) {
        self.tell(Ticket(0), Work::HumanSeen);
    }

    /// Follows what happens from now on, commit by commit.
    pub fn events(&self) -> broadcast::Receiver<Events> {
        self.events.subscribe()
    }

    /// Follows changes of records that other brokers made, such as devices and settings.
    pub fn foreign_records(&self) -> watch::Receiver<()> {
        self.foreign_records.subscribe()
    }

    /// Says whether other brokers may change the state, too.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Says whether this broker does what only one of several may do.
    pub fn leads(&self) -> bool {
        self.leadership.leads()
    }

    /// Returns what is wrong with the storage, if anything is.
    pub fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Runs something on the engine's thread, after everything handed in before is committed.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Core) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (sender, receiver) = oneshot::channel();
        // A caller that has left needs no result.
        let look: Look = Box::new(move |core| drop(sender.send(look(core))));
        self.send(Message::Look(look))?;
        receiver.await.map_err(|_| EngineError)
    }

    /// Writes what the rules do not concern, unless the disk is full; returns once it is committed.
    ///
    /// When it fails nothing was changed.
    pub async fn write<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        self.write_with(DiskReserve::Keep, write).await
    }

    /// The same for the little that it takes to let somebody answer: on a full disk as well.
    pub async fn write_even_if_full<T: Send + 'static>(
        &self,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        self.write_with(DiskReserve::Use, write).await
    }

    async fn write_with<T: Send + 'static>(
        &self,
        reserve: DiskReserve,
        write: impl Fn(&dyn Records, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Result<T, StoreError>, EngineError> {
        let (sender, receiver) = oneshot::channel();
        // A caller that has left needs no result.
        let write = Write::new(reserve, write, move |result| drop(sender.send(result)));
        self.send(Message::Write(write))?;
        receiver.await.map_err(|_| EngineError)
    }

    fn send(&self, message: Message) -> Result<(), EngineError> {
        self.inbox.send(message).map_err(|_| EngineError)
    }

    /// Waits until everything written so far can be searched.
    pub async fn catch_up(&self) -> Result<(), EngineError> {
        while self.look(|core| core.is_behind() && core.index_some()).await? {}
        Ok(())
    }

    fn tell(&self, ticket: Ticket, work: Work) {
        let order = Order {
            ticket,
            request: RequestId(Uuid::nil()),
            work,
        };
        // Nothing depends on being told when the engine has ended.
        let _ = self.send(order_of_ours(order));
    }
}

/// Whom replies go to.
struct WaitingCaller {
    request: RequestId,
    caller: Caller,
    /// Whether it was handed an outcome: each call is handed one.
    has_outcome: bool,
}

/// The state of the engine's thread.
struct EngineLoop {
    core: Core,
    clock: Clock,
    inbox: Receiver<Message>,
    callers: HashMap<Ticket, WaitingCaller>,
    events: broadcast::Sender<Events>,
    foreign_records: watch::Sender<()>,
    trouble: Arc<Mutex<Option<String>>>,
    /// Not to be woken by a timer before this, after a failure.
    retry_at: Option<Instant>,
    /// How long the next commit waits for others to share it.
    gathering: Duration,
}

impl EngineLoop {
    fn run(mut self) {
        let mut batch = Batch::default();
        loop {
            let mut looks = Vec::new();
            let mut stop = None;
            match self.next_message() {
                Ok(Some(message)) => self.take(message, &mut batch, &mut looks, &mut stop),
                Ok(None) => {}
                Err(Closed) => break,
            }
            let started = Instant::now();
            let until = started + std::mem::take(&mut self.gathering);
            while batch.len() < BATCH_MAX && !batch.has_failed() && stop.is_none() {
                let Some(message) = self.another(until) else { break };
                self.take(message, &mut batch, &mut looks, &mut stop);
            }
            self.commit(&mut batch, started);
            for look in looks {
                look(&mut self.core);
            }
            self.core.after_commit();
            if let Some(done) = stop {
                self.core.flush();
                let _ = done.send(());
                return;
            }
        }
        self.core.flush();
    }

    /// Waits for a message, or until something else is due.
    fn next_message(&mut self) -> Result<Option<Message>, Closed> {
        let due = self.core.next_due().map(|due| self.clock.until(due));
        let due = match (due, self.retry_at.take()) {
            (Some(due), Some(retry_at)) => Some(due.max(retry_at.saturating_duration_since(Instant::now()))),
            (due, _) => due,
        };
        let index_after = if self.core.is_stumbling() {
            INDEX_RETRY_AFTER
        } else {
            INDEX_AFTER_IDLE
        };
        let index = self.core.is_behind().then_some(index_after);
        let Some(patience) = due.into_iter().chain(index).min() else {
            return self.inbox.recv().map(Some).map_err(|_| Closed);
        };
        match self.inbox.recv_timeout(patience) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => Err(Closed),
            Err(RecvTimeoutError::Timeout) => {
                if due.is_some_and(|due| due <= patience) {
                    return Ok(Some(tick()));
                }
                if !self.core.index_some() {
                    self.core.prepare_for_more();
                }
                Ok(None)
            }
        }
    }

    /// Returns a message that is there, or comes until then.
    fn another(&self, until: Instant) -> Option<Message> {
        self.inbox.try_recv().ok().or_else(|| {
            let patience = until.checked_duration_since(Instant::now())?;
            self.inbox.recv_timeout(patience).ok()
        })
    }

    fn take(
        &mut self,
        message: Message,
        batch: &mut Batch<'static>,
        looks: &mut Vec<Look>,
        stop: &mut Option<oneshot::Sender<()>>,
    ) {
        match message {
            Message::Order {
                order,
                caller,
                write,
                pass,
            } => {
                if let Some(write) = write {
                    self.core.add_write(self.clock.now(), write, batch);
                }
                if let Some(caller) = caller {
                    let caller = WaitingCaller {
                        request: order.request,
                        caller,
                        has_outcome: false,
                    };
                    self.callers.insert(order.ticket, caller);
                }
                let pass = pass.map(|pass| *pass);
                self.core.add_for(self.clock.now(), pass, order, batch);
            }
            Message::Write(write) => self.core.add_write(self.clock.now(), write, batch),
            Message::Look(look) => looks.push(look),
            Message::Stop(done) => *stop = Some(done),
        }
    }

    fn commit(&mut self, batch: &mut Batch<'static>, started: Instant) {
        if batch.is_empty() {
            return;
        }
        let output = self.core.commit(self.clock.now(), batch);
        self.gathering = gathering_after(batch.len(), started.elapsed());
        self.note_trouble(&output);
        for (ticket, reply) in output.replies {
            let Some(to) = self.callers.get_mut(&ticket) else {
                continue;
            };
            if matches!(*reply, Reply::Outcome(_)) && std::mem::replace(&mut to.has_outcome, true) {
                continue;
            }
            // A caller that has left learns of it by its own means.
            let _ = to.caller.send(Box::new(Line {
                id: to.request,
                reply,
            }));
        }
        if output.has_foreign_records {
            self.foreign_records.send_replace(());
        }
        if !output.events.is_empty() {
            // Nobody needs to watch.
            let _ = self.events.send(output.events.into());
        }
        for entry in batch.drain() {
            match entry {
                Entry::Order(order, _) => {
                    if !self.core.machine().is_waiting(order.ticket) {
                        self.callers.remove(&order.ticket);
                    }
                }
                Entry::Write(write) => write.finish(),
            }
        }
    }

    fn note_trouble(&mut self, output: &CommitOutput) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if output.failed.is_some() {
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
        if *trouble != output.failed {
            trouble.clone_from(&output.failed);
        }
    }
}

/// Returns how long a commit waits for others, after one that took so long for so many.
///
/// On a slow disk, whoever is replied to asks again while the first of them already holds the disk; a moment of patience
/// lets all of them share the next commit. One caller alone never waits, nor does anybody where commits are quick.
fn gathering_after(orders: usize, took: Duration) -> Duration {
    if orders >= SHARED_MIN && took >= SLOW_COMMIT {
        took.min(GATHERING_MAX * GATHERING_SHARE) / GATHERING_SHARE
    } else {
        Duration::ZERO
    }
}

struct Closed;

fn tick() -> Message {
    let order = Order {
        ticket: Ticket(0),
        request: RequestId(Uuid::nil()),
        work: Work::Tick,
    };
    order_of_ours(order)
}

/// An order whose replies nobody waits for.
fn order_of_ours(order: Order) -> Message {
    Message::Order {
        order,
        caller: None,
        write: None,
        pass: None,
    }
}

/// The two clocks of [`Now`].
#[derive(Debug, Clone, Copy)]
struct Clock {
    started: Instant,
}

impl Clock {
    fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    fn now(&self) -> Now {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis();
        Now {
            wall: Timestamp::from_millis(i64::try_from(wall).unwrap_or(i64::MAX)),
            steady: self.steady(),
        }
    }

    fn steady(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn until(&self, due: u64) -> Duration {
        Duration::from_millis(due.saturating_sub(self.steady()))
    }
}

fn system_random() -> Random {
    Box::new(|| {
        // Without randomness from the system no id is safe; there is nothing to fall back to.
        getrandom::u64().unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_commits_of_many_wait_for_others_and_not_for_long() {
        let quick = Duration::from_micros(400);
        let slow = Duration::from_millis(6);
        assert_eq!(gathering_after(500, quick), Duration::ZERO);
        assert_eq!(gathering_after(1, slow), Duration::ZERO);
        assert_eq!(gathering_after(8, slow), slow / 8);
        assert_eq!(gathering_after(500, Duration::from_secs(3)), GATHERING_MAX);
    }
}
