//! Writes outside the rules, inside a transaction.
//!
//! A record that other brokers keep in memory, or that their open pages show, makes them read all records again. Bookkeeping,
//! such as when a token was last used or which broker has notified, does not: they look it up when they need it.

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
    /// Writes bookkeeping.
    fn note_record(&self, sql: &'static str, params: Vec<Param>) -> Result<(), StoreError> {
        self.run(sql, params)
    }

    /// Writes a record that others read again.
    fn record(&self, sql: &'static str, params: Vec<Param>) -> Result<(), StoreError> {
        self.touch_records();
        self.run(sql, params)
    }

    /// Writes bookkeeping and returns whether that changed anything.
    fn has_noted(&self, sql: &'static str, params: Vec<Param>) -> Result<bool, StoreError> {
        Ok(self.execute(sql, params)? > 0)
    }

    /// Writes a record that others read again, if that changes anything; returns whether it did.
    fn has_recorded(&self, sql: &'static str, params: Vec<Param>) -> Result<bool, StoreError> {
        let has_changed = self.execute(sql, params)? > 0;
        if has_changed {
            self.touch_records();
        }
        Ok(has_changed)
    }
}
