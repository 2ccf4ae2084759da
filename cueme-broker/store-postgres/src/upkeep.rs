//! Deferred work for when the connection is idle.

use cueme_store::{StoreError, Upkeep};

use crate::store::PostgresStore;

impl Upkeep for PostgresStore {
    fn is_behind(&self) -> bool {
        self.is_unindexed.get()
    }

    fn index_some(&self) -> Result<bool, StoreError> {
        let has_more = self.index_batch()?;
        self.is_unindexed.set(has_more);
        Ok(has_more)
    }

    fn prepare_for_more(&self) {}

    fn after_commit(&mut self) {}

    fn save_space(&self, _is_saving: bool) {}

    fn flush(&mut self) -> Result<(), StoreError> {
        self.leave()
    }
}
