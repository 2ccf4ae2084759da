//! Machine and store together, without threads or channels: orders in, replies and events out.

mod batch;
mod prepare;
mod retry;
mod room;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cueme_rules::{Machine, Now, Ticket};
use cueme_store::{Records, Storage, Store, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, EventView, Failure, Reply};

pub use self::batch::{Batch, Entry};
use super::write::{DiskReserve, Write};

/// A source of random bits, passed in so that a simulation can be repeated.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// A source of the time. A transaction may wait for the lock of a store that brokers share, so its clock is read after that.
pub trait Clock {
    /// Returns the time.
    fn now(&self) -> Now;

    /// Pauses before a retry; returns whether the time has passed. A clock that stands still does not wait.
    fn pause(&self, _time: Duration) -> bool {
        false
    }
}

impl<T: Clock + ?Sized> Clock for &T {
    fn now(&self) -> Now {
        (**self).now()
    }

    fn pause(&self, time: Duration) -> bool {
        (**self).pause(time)
    }
}

/// A clock that stands still, for simulations.
impl Clock for Now {
    fn now(&self) -> Now {
        *self
    }
}

/// The output of a commit, to be sent now that it is on disk.
#[derive(Debug, Default)]
pub struct CommitOutput {
    /// Replies, in order.
    pub replies: Vec<(Ticket, Box<Reply>)>,
    /// Events, in order.
    pub events: Vec<EventView>,
    /// Whether other brokers changed records outside the rules.
    pub has_foreign_records: bool,
    /// The storage error, if there was one.
    pub failed: Option<String>,
}

/// Machine and store together.
pub struct Core {
    machine: Machine,
    storage: Box<dyn Storage>,
    store: Option<Box<dyn Store>>,
    random: Random,
    reminder: Option<Arc<str>>,
    /// The callers that waited when the storage failed, for as long as it fails.
    stranded: Vec<(Ticket, CueId)>,
    /// Callers whose question is not in the store any more, and who have to be told.
    orphaned: Vec<(Ticket, CueId)>,
    /// Whether other brokers may have decided questions of waiting callers while the storage failed.
    owes: bool,
    /// Whether the storage failed in a way that requires a check.
    is_suspect: bool,
    /// Whether the last attempt to index failed.
    is_stumbling: bool,
    /// Whether the broker stops, so that nothing is retried for long.
    is_stopping: Arc<AtomicBool>,
    /// The name of the next transaction's batch.
    next_batch: u64,
}

impl Core {
    /// Opens the store and loads the machine.
    pub fn open(
        mut storage: Box<dyn Storage>,
        was_clean: bool,
        clock: impl Clock,
        mut random: Random,
    ) -> Result<Self, StoreError> {
        let store = storage.open(was_clean)?;
        let machine = store.load(clock.now())?;
        Ok(Self {
            machine,
            storage,
            store: Some(store),
            // Brokers start with different numbers, so that their batches are never confused.
            next_batch: random(),
            random,
            reminder: None,
            stranded: Vec::new(),
            orphaned: Vec::new(),
            owes: false,
            is_suspect: false,
            is_stumbling: false,
            is_stopping: Arc::default(),
        })
    }

    /// Sets the reminder that goes below each answer from now on.
    pub fn set_reminder(&mut self, reminder: Option<Arc<str>>) {
        self.reminder = reminder;
    }

    /// Returns the flag that ends long retries when the broker stops.
    pub fn stopping(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_stopping)
    }

    /// Has `wake` called whenever other brokers may have changed something.
    pub fn listen(&mut self, wake: Box<dyn Fn() + Send + Sync>) {
        self.storage.listen(wake);
    }

    /// Returns when a timer is due, by the steady clock.
    pub fn next_due(&self) -> Option<u64> {
        if self.owes || !self.orphaned.is_empty() {
            Some(0)
        } else {
            self.machine.next_due()
        }
    }

    /// Returns the machine, to look at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the store, unless it is failing.
    pub fn store(&self) -> Option<&dyn Store> {
        self.store.as_deref()
    }

    /// Lets the store do its work after a commit, once replies and events are out.
    pub fn after_commit(&mut self) {
        if let Some(store) = &mut self.store {
            store.after_commit();
        }
    }

    /// Shuts the store down; the next start does the rest.
    pub fn flush(&mut self) {
        if let Some(Err(error)) = self.store.as_mut().map(|store| store.flush()) {
            tracing::warn!(%error, "the store could not be left in order; the next start does it");
        }
    }

    /// Says whether there is deferred work for when the engine is idle.
    pub fn is_behind(&self) -> bool {
        self.store.as_ref().is_none_or(|store| store.is_behind())
    }

    /// Says whether that work failed the last time, so that it is not retried at once.
    pub fn is_stumbling(&self) -> bool {
        self.is_stumbling || self.storage.is_full() || self.store.is_none()
    }

    /// Indexes a batch of new texts; returns whether there is more to do.
    pub fn index_some(&mut self) -> bool {
        if !self.regain_room() {
            return false;
        }
        let Some(store) = &self.store else { return false };
        match store.index_some() {
            Ok(more) => {
                self.is_stumbling = false;
                more
            }
            Err(error) => {
                // Nothing depends on the index but search; it catches up when the storage recovers.
                if !std::mem::replace(&mut self.is_stumbling, true) {
                    tracing::warn!(%error, "indexing failed; it is tried again now and then");
                }
                false
            }
        }
    }

    /// Writes records outside the rules, as a batch of its own; a failure changes nothing.
    pub fn write<T: Send>(
        &mut self,
        clock: impl Clock,
        reserve: DiskReserve,
        write: impl Fn(&dyn Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let mut written = Err(self.not_opened());
        let write = Write::new(
            reserve,
            move |records, _| write(records),
            |result| written = result,
        );
        let mut batch = Batch::default();
        self.add_write(&clock, write, &mut batch);
        self.commit(&clock, &mut batch);
        batch.drain().for_each(Entry::finish);
        drop(batch);
        written
    }

    fn opened(&self) -> Result<&dyn Store, StoreError> {
        self.store.as_deref().ok_or_else(|| self.not_opened())
    }

    fn not_opened(&self) -> StoreError {
        StoreError::Damaged {
            path: self.storage.location(),
            what: "it could not be opened again after a failure".into(),
        }
    }

    fn reopen_if_failing(&mut self, clock: &dyn Clock) -> Result<(), StoreError> {
        if self.store.is_some() {
            return Ok(());
        }
        let store = self.storage.open(!self.is_suspect)?;
        let now = clock.now();
        self.machine = store.load(now)?;
        self.store = Some(store);
        self.is_suspect = false;
        self.restore_waiters(now)?;
        tracing::info!("the storage works again");
        Ok(())
    }

    /// Publishes the waiting callers of this broker to the others, inside a transaction.
    fn publish_presence(&self) -> Result<(), StoreError> {
        let mut cues: Vec<CueId> = self.machine.waiters().map(|(_, cue)| cue).collect();
        cues.sort_unstable();
        cues.dedup();
        self.opened()?.set_waiting(&cues)
    }
}

/// Turns a storage error into the failure that a caller gets.
pub(crate) fn storage_failure(error: &StoreError) -> Failure {
    let failure = Failure::new(ErrorCode::Storage, error.to_string());
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Core")
            .field("storage", &self.storage)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}
