//! The engine's thread: takes what is in its inbox, commits it in batches, and replies.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cueme_rules::Ticket;
use cueme_store::{Storage, StoreError};
use protocol_spec::id::RequestId;
use protocol_spec::message::Reply;
use tokio::sync::{broadcast, oneshot, watch};

use super::clock::{SystemClock, system_random};
use super::core::{Batch, CommitOutput, Core, Entry};
use super::handle::{Caller, EngineHandle, EngineTask, Events, Message, tick};
use super::order::Line;

/// The most orders in one commit.
const BATCH_MAX: usize = 512;
/// A commit that took at least this long is worth sharing with callers that come a moment later …
const SLOW_COMMIT: Duration = Duration::from_millis(2);
/// … if at least this many orders shared the last one …
const SHARED_MIN: usize = 8;
/// … and the next commit waits for them this part of that time …
const GATHERING_SHARE: u32 = 8;
/// … but at most this long.
const GATHERING_MAX: Duration = Duration::from_millis(2);
/// The number of commits that a watcher may fall behind before it has to reload the state.
const COMMITS_KEPT: usize = 256;
/// The idle time before the engine indexes new texts.
const INDEX_AFTER_IDLE: Duration = Duration::from_millis(50);
/// The same while there is more to index …
const INDEX_MORE_AFTER_IDLE: Duration = Duration::from_millis(2);
/// … and after it failed.
const INDEX_RETRY_AFTER: Duration = Duration::from_secs(5);
/// The pause before the engine retries failed work of its own.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// The running engine.
#[derive(Debug)]
pub struct Engine {
    handle: EngineHandle,
    is_stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Opens the store and starts the thread.
    pub fn start(storage: Box<dyn Storage>, was_clean: bool) -> Result<Self, StoreError> {
        let clock = SystemClock::start();
        let (leadership, is_shared) = (storage.leadership(), storage.is_shared());
        let mut core = Core::open(storage, was_clean, clock, system_random())?;
        let is_stopping = core.stopping();
        let (sender, inbox) = mpsc::channel();
        let wake = sender.clone();
        // The send fails when the engine has ended, and then there is nothing to wake.
        core.listen(Box::new(move || drop(wake.send(tick()))));
        let (events, _) = broadcast::channel(COMMITS_KEPT);
        let trouble = Arc::default();
        let foreign_records = watch::channel(()).0;
        let handle = EngineHandle {
            inbox: sender,
            tickets: Arc::new(AtomicU64::new(1)),
            events: events.clone(),
            foreign_records: foreign_records.clone(),
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
            foreign_records,
            trouble,
            retry_at: None,
            gathering: Duration::ZERO,
            has_more_to_index: false,
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
            is_stopping,
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

    /// Commits the pending work, checkpoints the log and ends the thread.
    pub fn stop(mut self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        let (done, _) = oneshot::channel();
        // If the inbox is closed the thread is gone already.
        let _ = self.handle.send(Message::Stop(done));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The receiver of an order's replies.
struct WaitingCaller {
    request: RequestId,
    caller: Caller,
    /// Whether it got an outcome: each call gets one.
    has_outcome: bool,
}

/// The state of the engine's thread.
struct EngineLoop {
    core: Core,
    clock: SystemClock,
    inbox: Receiver<Message>,
    callers: HashMap<Ticket, WaitingCaller>,
    events: broadcast::Sender<Events>,
    foreign_records: watch::Sender<()>,
    trouble: Arc<Mutex<Option<String>>>,
    /// The earliest time for a timer, after a failure.
    retry_at: Option<Instant>,
    /// The time that the next commit waits for more orders.
    gathering: Duration,
    /// Whether the indexer left some.
    has_more_to_index: bool,
}

impl EngineLoop {
    fn run(mut self) {
        let mut batch = Batch::default();
        loop {
            let mut tasks = Vec::new();
            let mut stop = None;
            let mut arrived = match self.next_message() {
                Ok(message) => message.into_iter().collect(),
                Err(Closed) => break,
            };
            let started = Instant::now();
            let until = started + std::mem::take(&mut self.gathering);
            loop {
                self.gather(&mut arrived, BATCH_MAX.saturating_sub(batch.len()));
                self.core.expect(arrived.iter().filter_map(Message::order));
                for message in arrived.drain(..) {
                    self.take(message, &mut batch, &mut tasks, &mut stop);
                }
                if batch.len() >= BATCH_MAX || batch.has_failed() || stop.is_some() {
                    break;
                }
                let Some(message) = self.another(until) else { break };
                arrived.push(message);
            }
            self.commit(&mut batch, started);
            for task in tasks {
                task(&mut self.core);
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
        } else if self.has_more_to_index {
            INDEX_MORE_AFTER_IDLE
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
                self.has_more_to_index = self.core.index_some();
                if !self.has_more_to_index {
                    self.core.prepare_for_more();
                }
                Ok(None)
            }
        }
    }

    /// Takes what has arrived meanwhile, up to so many messages in all.
    fn gather(&self, arrived: &mut Vec<Message>, count_max: usize) {
        while arrived.len() < count_max
            && !matches!(arrived.last(), Some(Message::Stop(_)))
            && let Ok(message) = self.inbox.try_recv()
        {
            arrived.push(message);
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
        tasks: &mut Vec<EngineTask>,
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
                    self.core.add_write(self.clock, write, batch);
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
                self.core.add_for(self.clock, pass, order, batch);
            }
            Message::Write(write) => self.core.add_write(self.clock, write, batch),
            Message::Run(task) => tasks.push(task),
            Message::Stop(done) => *stop = Some(done),
        }
    }

    fn commit(&mut self, batch: &mut Batch<'static>, started: Instant) {
        if batch.is_empty() {
            return;
        }
        let output = self.core.commit(self.clock, batch);
        self.gathering = gathering_after(batch.len(), started.elapsed());
        self.note_trouble(&output);
        for (ticket, reply) in output.replies {
            let Some(to) = self.callers.get_mut(&ticket) else {
                continue;
            };
            if matches!(*reply, Reply::Outcome(_)) && std::mem::replace(&mut to.has_outcome, true) {
                continue;
            }
            // A caller that has left finds out by itself.
            let _ = to.caller.send(Box::new(Line {
                id: to.request,
                reply,
            }));
        }
        if output.has_foreign_records {
            self.foreign_records.send_replace(());
        }
        if !output.events.is_empty() {
            // A send error is ignored: watchers are optional.
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

/// Returns the time that a commit waits for more orders, after a commit of this duration and size.
///
/// On a slow disk, callers that got a reply ask again while the first of them already holds the disk; a short wait lets
/// all of them share the next commit. A single caller never waits, and no caller waits if commits are fast.
fn gathering_after(orders: usize, took: Duration) -> Duration {
    if orders >= SHARED_MIN && took >= SLOW_COMMIT {
        took.min(GATHERING_MAX * GATHERING_SHARE) / GATHERING_SHARE
    } else {
        Duration::ZERO
    }
}

struct Closed;

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
