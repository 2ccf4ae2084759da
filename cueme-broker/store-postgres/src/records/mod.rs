//! Writes outside the rules, inside a transaction. Each tells other brokers that records have changed.

mod automatic;
mod bootstraps;
mod deliveries;
mod door;
mod drafts;
mod leads;
mod purge;
mod runs;
mod settings;
mod surfaces;
mod uploads;

pub(crate) use uploads::ADD_BLOB;

use cueme_store::StoreError;

use crate::statements::Param;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Writes a record.
    fn record(&self, sql: &'static str, params: Vec<Param>) -> Result<(), StoreError> {
        self.touch_records();
        self.run(sql, params)
    }

    /// Writes a record and returns whether that changed anything.
    fn has_recorded(&self, sql: &'static str, params: Vec<Param>) -> Result<bool, StoreError> {
        let has_changed = self.execute(sql, params)? > 0;
        if has_changed {
            self.touch_records();
        }
        Ok(has_changed)
    }
}
