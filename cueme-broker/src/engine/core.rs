//! Machine and store together, without threads or channels: orders in, what may be said out.

mod batch;
mod prepare;
mod room;

use std::collections::HashSet;
use std::sync::Arc;

use cueme_rules::{Machine, Now, Ticket};
use cueme_store::{Records, Storage, Store, StoreError};
use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, EventView, Failure, Reply};

use self::batch::Failed;
pub use self::batch::{Batch, Entry};
use super::write::{DiskReserve, Write};

/// A source of random bits, passed in so that a simulation can be repeated.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// What may be said now that it is on disk.
#[derive(Debug, Default)]
pub struct CommitOutput {
    /// Replies, in order.
    pub replies: Vec<(Ticket, Box<Reply>)>,
    /// Events, in order.
    pub events: Vec<EventView>,
    /// Whether other brokers changed records that the rules do not concern.
    pub has_foreign_records: bool,
    /// What went wrong with the storage, if anything did.
    pub failed: Option<String>,
}

/// Machine and store together.
pub struct Core {
    machine: Machine,
    storage: Box<dyn Storage>,
    store: Option<Box<dyn Store>>,
    random: Random,
    reminder: Option<Arc<str>>,
    /// Who waited when the storage failed, for as long as it fails.
    stranded: Vec<(Ticket, CueId)>,
    /// Callers whose question is not in the store any more, and who have to be told.
    orphaned: Vec<(Ticket, CueId)>,
    /// Whether other brokers may have decided, while the storage failed, what somebody waits for here.
    owes: bool,
    /// Whether the storage failed in a way after which it is to be checked.
    is_suspect: bool,
    /// Whether the last attempt to index failed.
    is_stumbling: bool,
    /// How the next transaction is called.
    next_batch: u64,
}

impl Core {
    /// Opens the store and loads the machine.
    pub fn open(
        mut storage: Box<dyn Storage>,
        was_clean: bool,
        now: Now,
        mut random: Random,
    ) -> Result<Self, StoreError> {
        let store = storage.open(was_clean)?;
        let machine = store.load(now)?;
        Ok(Self {
            machine,
            storage,
            store: Some(store),
            // No two brokers begin with the same, so a batch is never taken for that of another.
            next_batch: random(),
            random,
            reminder: None,
            stranded: Vec::new(),
            orphaned: Vec::new(),
            owes: false,
            is_suspect: false,
            is_stumbling: false,
        })
    }

    /// Sets the reminder that goes below each answer from now on.
    pub fn set_reminder(&mut self, reminder: Option<Arc<str>>) {
        self.reminder = reminder;
    }

    /// Has `wake` called whenever other brokers may have changed something.
    pub fn listen(&mut self, wake: Box<dyn Fn() + Send + Sync>) {
        self.storage.listen(wake);
    }

    /// Returns when there is something to do by itself, by the steady clock.
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

    /// Lets the store do what follows a commit, once everybody has heard of it.
    pub fn after_commit(&mut self) {
        if let Some(store) = &mut self.store {
            store.after_commit();
        }
    }

    /// Leaves the store in order; what it does not manage, the next start does.
    pub fn flush(&mut self) {
        if let Some(Err(error)) = self.store.as_mut().map(|store| store.flush()) {
            tracing::warn!(%error, "the store could not be left in order; the next start does it");
        }
    }

    /// Says whether there is something to do when nothing else is.
    pub fn is_behind(&self) -> bool {
        self.store.as_ref().is_none_or(|store| store.is_behind())
    }

    /// Says whether that did not work the last time, so that it is not worth trying at once.
    pub fn is_stumbling(&self) -> bool {
        self.is_stumbling || self.storage.is_full() || self.store.is_none()
    }

    /// Indexes some of what was written; returns whether there is more to do.
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

    /// Writes what the rules do not concern, as a batch of its own; when it fails nothing was changed.
    pub fn write<T: Send>(
        &mut self,
        now: Now,
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
        self.add_write(now, write, &mut batch);
        self.commit(now, &mut batch);
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

    fn reopen_if_failing(&mut self, now: Now) -> Result<(), StoreError> {
        if self.store.is_some() {
            return Ok(());
        }
        let store = self.storage.open(!self.is_suspect)?;
        self.machine = store.load(now)?;
        self.store = Some(store);
        self.is_suspect = false;
        self.restore_waiters(now)?;
        tracing::info!("the storage works again");
        Ok(())
    }

    /// Goes back to what is on disk, with everyone who waited before still waiting.
    ///
    /// A commit in doubt is resolved first: returns what may be said if it happened, or why it did not.
    fn recover(
        &mut self,
        now: Now,
        entries: &[Entry<'_>],
        failed: Failed,
    ) -> Result<CommitOutput, StoreError> {
        let waiters = match self.store {
            Some(_) => self.machine.waiters().collect(),
            None => std::mem::take(&mut self.stranded),
        };
        self.is_suspect |= failed.error.is_alarming();
        // After a failed write or sync nothing about the old connection can be trusted.
        self.store = None;
        if let Err(error) = self.reopen_if_failing(now) {
            tracing::error!(%error, "the storage cannot be opened again; trying with each request");
        }
        let resolved = self.resolve(failed);
        self.stranded = waiters;
        if resolved.is_err() {
            // Callers that came with these entries are told that they failed; those that left wait no more.
            let concerned: HashSet<Ticket> = entries.iter().filter_map(Entry::ticket).collect();
            self.stranded.retain(|(ticket, _)| !concerned.contains(ticket));
        }
        if self.store.is_some()
            && let Err(error) = self.restore_waiters(now)
        {
            tracing::error!(%error, "the storage failed again; trying with each request");
            self.store = None;
        }
        resolved
    }

    fn restore_waiters(&mut self, now: Now) -> Result<(), StoreError> {
        if self.storage.is_shared() {
            // What was acknowledged elsewhere is not live any more, and still owed to those who wait for it here.
            for place in 0..self.stranded.len() {
                self.remind_of(now, self.stranded[place].1)?;
            }
            self.owes = !self.stranded.is_empty();
        }
        for (ticket, cue) in std::mem::take(&mut self.stranded) {
            // In a store of this broker alone, a question that is not live was acknowledged: its callers have its outcome.
            if !self.machine.restore_waiter(ticket, cue) && self.storage.is_shared() {
                self.orphaned.push((ticket, cue));
            }
        }
        Ok(())
    }

    /// Lets other brokers know of everybody who waits here, inside a transaction.
    fn tell_others_who_waits(&self) -> Result<(), StoreError> {
        let mut cues: Vec<CueId> = self.machine.waiters().map(|(_, cue)| cue).collect();
        cues.sort_unstable();
        cues.dedup();
        self.opened()?.set_waiting(&cues)
    }

    /// Finds out whether a commit that failed happened all the same.
    fn resolve(&self, failed: Failed) -> Result<CommitOutput, StoreError> {
        let Failed { error, doubt } = failed;
        let Some(doubt) = doubt else {
            return Err(error);
        };
        let (batch, output) = *doubt;
        match self.opened().and_then(|store| store.has_committed(batch)) {
            Ok(true) => {
                tracing::warn!(%error, "a commit was reported as failed, and happened");
                Ok(output)
            }
            Ok(false) => Err(error),
            Err(_) => Err(StoreError::InDoubt {
                path: self.storage.location(),
                what: error.to_string(),
            }),
        }
    }
}

/// Tells a caller what is wrong with the storage.
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
