//! Machine and store together, without threads or channels: orders in, what may be said out.

mod batch;
mod prepare;
mod room;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use protocol_spec::id::CueId;
use protocol_spec::message::{ErrorCode, EventView, Failure, Reply};

pub use self::batch::{Batch, Entry};
use super::write::{DiskReserve, Write};
use crate::machine::{Machine, Now, Ticket};
use crate::store::{Ballast, Store, StoreError, Synchronous, has_log};

/// A source of random bits, passed in so that a simulation can be repeated.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// What may be said now that it is on disk.
#[derive(Debug, Default)]
pub struct CommitOutput {
    /// Replies, in order.
    pub replies: Vec<(Ticket, Box<Reply>)>,
    /// Events, in order.
    pub events: Vec<EventView>,
    /// What went wrong with the storage, if anything did.
    pub failed: Option<String>,
}

/// Machine and store together.
pub struct Core {
    machine: Machine,
    store: Option<Store>,
    path: PathBuf,
    synchronous: Synchronous,
    random: Random,
    reminder: Option<Arc<str>>,
    /// Who waited when the storage failed, for as long as it fails.
    stranded: Vec<(Ticket, CueId)>,
    /// Whether the storage failed in a way after which the file is to be checked.
    is_suspect: bool,
    /// Whether something was written that is not indexed yet.
    is_behind: bool,
    /// Whether the store's log may still hold secrets that were erased from the database.
    has_erased: bool,
    /// Whether the store's log has the room that it may need.
    has_log_room: bool,
    /// Whether the last attempt to index failed.
    is_stumbling: bool,
    /// The space that is given up when there is no other.
    ballast: Ballast,
    /// Whether it is given up: what there is left is for answers.
    is_full: bool,
}

impl Core {
    /// Opens the store and loads the machine.
    pub fn open(
        path: PathBuf,
        synchronous: Synchronous,
        was_clean: bool,
        now: Now,
        random: Random,
    ) -> Result<Self, StoreError> {
        // Whoever stops in order leaves no log behind; what is there may hold what was erased from the database.
        let has_erased = has_log(&path);
        let store = Store::open(&path, synchronous, was_clean)?;
        let machine = store.load(now)?;
        let ballast = Ballast::of(&path);
        let is_full = !ballast.lay() && ballast.fits();
        if is_full {
            tracing::warn!("there is too little space to keep some for answers");
        }
        Ok(Self {
            machine,
            store: Some(store),
            ballast,
            is_full,
            is_stumbling: false,
            has_log_room: false,
            path,
            synchronous,
            random,
            reminder: None,
            stranded: Vec::new(),
            is_suspect: false,
            is_behind: true,
            has_erased,
        })
    }

    /// Sets the reminder that goes below each answer from now on.
    pub fn set_reminder(&mut self, reminder: Option<Arc<str>>) {
        self.reminder = reminder;
    }

    /// Returns the machine, to look at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the store, unless it is failing.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Says whether there is something to do when nothing else is.
    pub fn is_behind(&self) -> bool {
        self.is_behind || self.has_erased || !self.has_log_room
    }

    /// Says whether that did not work the last time, so that it is not worth trying at once.
    pub fn is_stumbling(&self) -> bool {
        self.is_stumbling || self.is_full || self.store.is_none()
    }

    /// Indexes some of what was written, in a transaction of its own; returns whether there is more to do.
    pub fn index_some(&mut self) -> bool {
        if !self.regain_room() {
            return false;
        }
        self.forget_erased();
        let Some(store) = &self.store else { return false };
        let indexed = store
            .begin()
            .and_then(|()| store.index_some())
            .and_then(|more| store.commit().map(|()| more));
        match indexed {
            Ok(more) => {
                self.is_behind = more;
                self.is_stumbling = false;
            }
            Err(error) => {
                // Nothing depends on the index but search; it catches up when the storage recovers.
                if !std::mem::replace(&mut self.is_stumbling, true) {
                    tracing::warn!(%error, "indexing failed; it is tried again now and then");
                }
                store.roll_back();
                return false;
            }
        }
        self.is_behind
    }

    /// Writes what the rules do not concern, as a batch of its own; when it fails nothing was changed.
    pub fn write<T: Send>(
        &mut self,
        now: Now,
        reserve: DiskReserve,
        write: impl Fn(&Store) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let mut written = Err(self.not_opened());
        let write = Write::new(reserve, move |store, _| write(store), |result| written = result);
        let mut batch = Batch::default();
        self.add_write(now, write, &mut batch);
        self.commit(now, &mut batch);
        batch.drain().for_each(Entry::finish);
        drop(batch);
        written
    }

    /// Empties the store's log when it may hold a secret that was erased; a reader in the way delays it.
    fn forget_erased(&mut self) {
        if !self.has_erased {
            return;
        }
        match self.store.as_ref().map(Store::empty_log) {
            Some(Ok(is_empty)) => {
                self.has_erased = !is_empty;
                self.has_log_room &= !is_empty;
            }
            // Tried again whenever the engine is idle, so not worth a line each time.
            Some(Err(error)) => tracing::debug!(%error, "the log could not be emptied"),
            None => {}
        }
    }

    fn opened(&self) -> Result<&Store, StoreError> {
        self.store.as_ref().ok_or_else(|| self.not_opened())
    }

    fn not_opened(&self) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            what: "it could not be opened again after a failure".into(),
        }
    }

    fn reopen_if_failing(&mut self, now: Now) -> Result<(), StoreError> {
        if self.store.is_some() {
            return Ok(());
        }
        let store = Store::open(&self.path, self.synchronous, !self.is_suspect)?;
        if self.is_full {
            store.be_frugal(true)?;
        }
        self.machine = store.load(now)?;
        self.store = Some(store);
        self.is_suspect = false;
        for (ticket, cue) in std::mem::take(&mut self.stranded) {
            self.machine.restore_waiter(ticket, cue);
        }
        tracing::info!("the storage works again");
        Ok(())
    }

    /// Goes back to what is on disk, with everyone who waited before still waiting.
    fn recover(&mut self, now: Now, entries: &[Entry<'_>], error: &StoreError) {
        if self.store.is_some() {
            self.stranded = self.machine.waiters().collect();
        }
        // Whoever came with these orders is told that they failed; whoever left with them waits no more.
        let concerned: HashSet<Ticket> = entries.iter().filter_map(Entry::ticket).collect();
        self.stranded.retain(|(ticket, _)| !concerned.contains(ticket));
        self.is_suspect |= error.is_alarming();
        // After a failed write or sync nothing about the old connection can be trusted.
        self.store = None;
        if let Err(error) = self.reopen_if_failing(now) {
            tracing::error!(%error, "the storage cannot be opened again; trying with each request");
        }
    }
}

/// Tells a caller that nothing was changed.
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
            .field("path", &self.path)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}
