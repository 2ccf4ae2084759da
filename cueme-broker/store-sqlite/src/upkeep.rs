//! Deferred work for when the connection is idle: indexing, and the write-ahead log.

use std::sync::atomic::Ordering;

use cueme_store::{StoreError, Transactions, Upkeep};

use super::SqliteStore;
use super::checkpointer::Checkpointer;

impl Upkeep for SqliteStore {
    fn is_behind(&self) -> bool {
        self.is_unindexed.get() || self.has_erased.get() || !self.has_log_room.get()
    }

    fn index_some(&self) -> Result<bool, StoreError> {
        self.forget_erased();
        let indexed = self
            .begin()
            .and_then(|_| self.index_rows())
            .and_then(|more| self.end_transaction().map(|()| more));
        match indexed {
            Ok(more) => self.is_unindexed.set(more),
            Err(_) => self.roll_back(),
        }
        indexed
    }

    fn prepare_for_more(&self) {
        // If space cannot be preallocated, commits allocate their own, and report errors.
        self.has_log_room.set(!self.make_log_room().unwrap_or(false));
    }

    fn after_commit(&mut self) {
        if self.checkpointer.as_ref().is_some_and(Checkpointer::has_run)
            && let Err(error) = self.checkpoint_rest()
        {
            tracing::debug!(%error, "the rest of the log could not be checkpointed");
        }
        if !self.log.is_checkpoint_due() {
            return;
        }
        if self.checkpointer.is_none() {
            match Checkpointer::start(&self.path) {
                Ok(checkpointer) => self.checkpointer = Some(checkpointer),
                Err(error) => tracing::warn!(%error, "commits alone checkpoint the log"),
            }
        }
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.request();
        }
    }

    fn save_space(&self, is_saving: bool) {
        self.log
            .pages_max
            .store(self.log_pages_max(is_saving), Ordering::Relaxed);
        if is_saving && let Err(error) = self.empty_log() {
            // The next commits retry.
            tracing::debug!(%error, "the log could not be emptied");
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        // Two cannot checkpoint at once.
        self.checkpointer = None;
        self.checkpoint()
    }
}

impl SqliteStore {
    /// Truncates the log when it may hold an erased secret; an active reader delays it.
    pub(crate) fn forget_erased(&self) {
        if !self.has_erased.get() {
            return;
        }
        match self.empty_log() {
            Ok(is_empty) => {
                self.has_erased.set(!is_empty);
                self.has_log_room.set(self.has_log_room.get() && !is_empty);
            }
            // Retried whenever the engine is idle, so not worth a log line each time.
            Err(error) => tracing::debug!(%error, "the log could not be emptied"),
        }
    }
}
