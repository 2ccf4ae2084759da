//! Work that waits until nobody else needs the connection.

use cueme_store::search::INDEX_BATCH;
use cueme_store::{StoreError, Upkeep};

use crate::index::index_batch;
use crate::store::PostgresStore;

impl Upkeep for PostgresStore {
    fn is_behind(&self) -> bool {
        self.is_unindexed.get()
    }

    fn index_some(&self) -> Result<bool, StoreError> {
        let has_more = self.runtime.block_on(index_batch(self.client(), INDEX_BATCH))?;
        self.is_unindexed.set(has_more);
        Ok(has_more)
    }

    fn prepare_for_more(&self) {}

    fn after_commit(&mut self) {}

    fn be_frugal(&self, _is_frugal: bool) {}

    fn flush(&mut self) -> Result<(), StoreError> {
        self.leave()
    }
}
